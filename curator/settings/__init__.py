"""The user's settings: one frozen schema from which the dialog and the manual's table derive."""
