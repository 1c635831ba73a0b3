"""What all services stand on: the bus of changes, answers that stand until something is written, names of project-wide
values, and how long work still takes."""
