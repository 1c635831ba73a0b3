"""Decisions that contradict each other: the list of them, going from place to place, marking, settling, and the line
that says so while somebody decides.

* **The list stays next to the text.** A worker thread reads it, and again after changes; what is highlighted stays. The
  places of the highlighted row are read in parts, each with its context.
* **Only what was seen changes.** Ticked places that were never on the screen (`Glance.unseen`) are refused.
* **The line in the panel never delays a key**: what contradicts the highlighted candidate is read in a worker thread
  after the frame that shows it (`contradiction_line.py`).
"""

from typing import TYPE_CHECKING

from curator import opened_late
from curator.ui.inconsistencies.inconsistency_commands import INCONSISTENCIES

if TYPE_CHECKING:
    from curator.ui.inconsistencies.inconsistency_flows import InconsistencyFlows

__all__ = [
    "INCONSISTENCIES",
    "InconsistencyFlows",
]

__getattr__ = opened_late(
    __name__,
    inconsistency_flows="InconsistencyFlows",
)
