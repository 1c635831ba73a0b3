"""Several curators: rounds, adjudication, agreement, and under whose name decisions are made."""
