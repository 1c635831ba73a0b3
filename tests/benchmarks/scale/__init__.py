"""The cost of an index of names for growing knowledge bases; `PLAN.md` has the figures."""
