"""Use cases without Qt; they access storage, files and child processes only through `ports`.

`Project` in `curator/project.py` holds one object of each service; its attributes are their names. It also has
`jobs`, `formats`, `disk` and `seat`. An action that changes something returns a `Change`, and the bus
(`core/events.py`) sends it to all listeners.

A long job is a generator of `Progress` that returns a report. Closing it cancels the job.
"""
