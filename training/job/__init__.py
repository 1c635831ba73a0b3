"""A job from recipe to verdict: what is given, trained, assembled, fitted and judged."""
