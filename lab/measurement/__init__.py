"""Measures the lab: the published experiments (studies), and the questions of users.

studies.py            the cases of each study
case.py               a case: one endpoint under one load
duets.py              compares the talk's tips in duets: two labs at the same time
case_run.py           measures studies, and writes lab.json after each study
endpoint.py           measures one endpoint under one load
case_target.py        the request of a case
beside.py             starts the lab, and the processes that run beside the lab: the slow upstream, Postgres
case_usage.py         CPU and threads while a load runs
case_record.py        the schema of lab.json
questions/            the cases of each question, and the claims of users
question.py           defines what a question consists of
stage.py              runs a question's application
case_users.py         simulates the users of a question's application
ask.py                measures questions, and writes questions.json after each question
expected_answers.py   the schema of questions.json
"""
