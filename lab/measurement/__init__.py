"""The published experiments, measured on the lab: published ratios beside measured ones.

studies.py    the cases of each study
case.py       a case: one endpoint under one load
duets.py      the tips, two labs at a time
case_run.py        measures studies, and writes lab.json after each
endpoint.py   measures one endpoint under one load
case_target.py     the request of a case
beside.py     the lab and what runs beside it: the slow upstream, Postgres
case_usage.py      CPU and threads during an attack
case_record.py     the schema of lab.json
questions/    what users ask: the cases of each question, and what is claimed
question.py   a question
stage.py      where a question is measured
case_users.py      the users of its application
ask.py        measures questions, and writes questions.json after each
expected_answers.py    the schema of questions.json
"""
