"""Use cases without Qt; they see storage, files and child processes only through `ports`.

`Project` in `curator/bootstrap.py` holds one object of each service; its attributes are their names. Besides them it
has `jobs`, `formats`, `disk` and `seat`. An action that changes something returns a `Change`, and the bus
(`core/events.py`) carries it to everybody else.

Long work is a generator of `Progress` that returns a report. Closing it cancels it.
"""
