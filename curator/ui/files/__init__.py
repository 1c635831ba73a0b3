"""Input and output: new projects, imports, PubMed, exports and releases, with their dialogs."""

from typing import TYPE_CHECKING

from curator import opened_late
from curator.ui.files.file_commands import FILES, RECORDS

if TYPE_CHECKING:
    from curator.ui.files.demo_project import demo_folder, fill, is_filled, world_of
    from curator.ui.files.new_project import NewProjectDialog, ProjectWish
    from curator.ui.files.project_flows import ProjectFlows
    from curator.ui.files.record_flows import RecordFlows
    from curator.ui.files.save_as import ExportDialog, SaveDialog

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
    demo_project="demo_folder fill is_filled world_of",
    new_project="NewProjectDialog ProjectWish",
    project_flows="ProjectFlows",
    record_flows="RecordFlows",
    save_as="ExportDialog SaveDialog",
)
