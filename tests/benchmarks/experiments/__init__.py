"""The papers' questions for every recipe at one small size: `make experiments MINUTES=90`."""
