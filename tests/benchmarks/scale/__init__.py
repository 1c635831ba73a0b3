"""What an index of names costs as knowledge bases grow; `PLAN.md` has the figures."""
