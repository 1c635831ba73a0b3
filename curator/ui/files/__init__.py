"""What comes in and goes out: new projects, imports, PubMed, exports and releases, with the windows that ask about
them."""

from typing import TYPE_CHECKING

from curator.ui import opened_late
from curator.ui.files.file_commands import FILES, RECORDS

if TYPE_CHECKING:
    from curator.ui.files.export_gold import ExportDialog
    from curator.ui.files.new_project import NewProjectDialog, ProjectWish
    from curator.ui.files.project_flows import ProjectFlows, demo_folder, fill, is_filled, world_of
    from curator.ui.files.record_flows import RecordFlows
    from curator.ui.files.save_as import SaveDialog

__all__ = [
    "FILES",
    "RECORDS",
    "ExportDialog",
    "NewProjectDialog",
    "ProjectFlows",
    "ProjectWish",
    "RecordFlows",
    "SaveDialog",
    "demo_folder",
    "fill",
    "is_filled",
    "world_of",
]

__getattr__ = opened_late(
    __name__,
    {
        "ExportDialog": "export_gold",
        "NewProjectDialog": "new_project",
        "ProjectFlows": "project_flows",
        "ProjectWish": "new_project",
        "RecordFlows": "record_flows",
        "SaveDialog": "save_as",
        "demo_folder": "project_flows",
        "fill": "project_flows",
        "is_filled": "project_flows",
        "world_of": "project_flows",
    },
)
