"""Decisions that contradict each other: the list, navigation between places, marking, settling, and the warning line
shown while deciding.

* **The list stays next to the text.** A worker thread reads it, and again after changes; the highlighted row is kept.
  The places of this row are read in parts, each with its context.
* **Only visible places are changed.** Ticked places that were never on the screen (`Glance.unseen`) are refused.
* **The line in the panel never delays a key**: contradictions of the highlighted candidate are read in a worker thread
  after the frame that shows it (`contradiction_line.py`).
"""
