"""A careless curator: random keys and clicks in the real window, and what the painter's own log says of each decision.

`python -m tests.careless --events 10000` presses; `tests/e2e/test_careless_curator.py` is the short one of the suite.
"""
