"""Keeping a project safe: backups, check, and recovery of damaged projects.

* **A damaged project has no services**: `Rescue` works with the project's folder alone, through `curator.bootstrap`.
* **Long operations run in a thread**; restoring closes the project first and opens it again afterwards.
"""

from typing import TYPE_CHECKING

from curator import opened_late
from curator.ui.safety.safety_commands import SAFETY

if TYPE_CHECKING:
    from curator.ui.safety.rescue import Rescue
    from curator.ui.safety.safety_flows import SafetyFlows

__all__ = [
    "SAFETY",
    "Rescue",
    "SafetyFlows",
]

__getattr__ = opened_late(
    __name__,
    rescue="Rescue",
    safety_flows="SafetyFlows",
)
