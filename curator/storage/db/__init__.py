"""The database file itself: its engine, locks and turns, its tables today and in former versions, and what packs a
row."""
