"""Curators apart from each other: rounds and the files that carry them, agreement, adjudication."""
