"""The papers' questions asked of every recipe at one small size: `make experiments MINUTES=90`."""
