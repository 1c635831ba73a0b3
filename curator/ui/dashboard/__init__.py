"""Figures of the project, drawn and as tables, and lists of decisions: all, and those that the linker finds
unlikely."""

from typing import TYPE_CHECKING

from curator.ui import opened_late
from curator.ui.dashboard.seeing_commands import SEEING

if TYPE_CHECKING:
    from curator.ui.dashboard.seeing_flows import SeeingFlows
    from curator.ui.dashboard.suspicious_window import SuspiciousWindow

__all__ = [
    "SEEING",
    "SeeingFlows",
    "SuspiciousWindow",
]

__getattr__ = opened_late(__name__, {"SeeingFlows": "seeing_flows", "SuspiciousWindow": "suspicious_window"})
