"""A careless curator: random keys and clicks in the real window, each decision checked against the log of painting.

`python -m tests.careless --events 10000` presses; `tests/e2e/test_careless_curator.py` is the short one of the suite.
"""
