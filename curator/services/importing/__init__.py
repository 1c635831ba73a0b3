"""Documents, gold and knowledge bases come in: looked at first, then stored in steps that can be taken up again."""
