"""The workbench: text, candidates and queue side by side, and all actions on a mention except deciding. `Workbench`
joins the rooms that it shows.

* **The layout saves named widgets** (`window_layout.py`): splitters and tables with an object name, and widgets marked
  with `keep_shown`. Only sizes that the curator changed are saved; the others follow the window.
"""

from typing import TYPE_CHECKING

from curator import opened_late
from curator.ui.bench.annotate_commands import ANNOTATE
from curator.ui.bench.candidate_commands import CANDIDATES
from curator.ui.bench.deciding_commands import DECIDING
from curator.ui.bench.queue_commands import QUEUE
from curator.ui.bench.text_commands import TEXT

if TYPE_CHECKING:
    from curator.ui.bench.attribute_desk import AttributeDesk
    from curator.ui.bench.mention_editor import TypePicker
    from curator.ui.bench.refresher import Refresher
    from curator.ui.bench.window_layout import WindowLayout
    from curator.ui.bench.workbench import Workbench

__all__ = [
    "ANNOTATE",
    "CANDIDATES",
    "DECIDING",
    "QUEUE",
    "TEXT",
    "AttributeDesk",
    "Refresher",
    "TypePicker",
    "WindowLayout",
    "Workbench",
]

__getattr__ = opened_late(
    __name__,
    attribute_desk="AttributeDesk",
    mention_editor="TypePicker",
    refresher="Refresher",
    window_layout="WindowLayout",
    workbench="Workbench",
)
