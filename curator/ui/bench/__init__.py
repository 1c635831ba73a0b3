"""The working place: text, candidates and queue side by side, and all that is done to a mention there besides deciding,
notes and history too. `Workbench` joins the rooms that it shows."""
