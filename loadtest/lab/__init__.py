"""`make lab`: the published experiments on the lab, published ratios beside measured ones.

studies.py     what is measured: the cases of each study
duets.py       the tips, two labs at a time
run.py         measures studies, and writes lab.json after each
"""
