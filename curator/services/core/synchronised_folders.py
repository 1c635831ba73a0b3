"""Folders that another program synchronises: a database changes there under the program that writes it.

Dropbox, OneDrive and the like copy single files when they find them changed. A project's database and its log belong
together; copied apart, or brought back from another computer while Curator writes, they lose decisions or damage the
file. A lock is not seen by the other computer either. So the first writer of a project in such a folder is warned.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from curator.domain.wording import UserError, tr
from curator.services.ports import Store

SYNCHRONISED = (
    "This project is in a folder that {service} synchronises. Synchronising can damage a project that is open, and "
    "does not stop a second computer from writing to it. Move the project to another folder. For copies, use a release "
    "or an export."
)
WARNED = "warned.synchronised"
"""Key of the project's metadata: the service that was warned of."""
NAMES = {
    "Dropbox": re.compile(r"dropbox( \(.*\))?", re.IGNORECASE),
    "OneDrive": re.compile(r"onedrive( - .*|-.*)?", re.IGNORECASE),
    "Google Drive": re.compile(r"google ?drive(-.*| - .*)?|my drive", re.IGNORECASE),
    "iCloud": re.compile(r"icloud ?drive( \(.*\))?|com~apple~clouddocs|mobile documents", re.IGNORECASE),
    "Nextcloud": re.compile(r"nextcloud\d*", re.IGNORECASE),
    "ownCloud": re.compile(r"owncloud\d*", re.IGNORECASE),
    "pCloud": re.compile(r"pclouddrive|pcloud drive", re.IGNORECASE),
}
"""Names that these programs give to the folder that they synchronise."""
MARKERS = {
    ".dropbox": "Dropbox",
    ".dropbox.cache": "Dropbox",
    ".nextcloudsync.log": "Nextcloud",
    ".owncloudsync.log": "ownCloud",
    ".tmp.drivedownload": "Google Drive",
    ".stfolder": "Syncthing",
    ".SynologyWorkingDirectory": "Synology Drive",
}
"""Files and folders that they keep in it."""


def sync_service(folder: Path) -> str:
    """The program that synchronises `folder` or one above it; '' where there is no sign of any.

    The folder of a user is no sign, though Dropbox keeps its settings in `.dropbox` there.
    """
    home = Path.home()
    for place in folder.absolute().parents:
        if found := next((service for service, name in NAMES.items() if name.fullmatch(place.name)), ""):
            return found
        if place == home:
            break
        with suppress(OSError):
            if found := next((service for name, service in MARKERS.items() if (place / name).exists()), ""):
                return found
    return ""


def place_warning(store: Store, find: Callable[[Path], str] = sync_service) -> str:
    """The sentence about the project's folder, the first time that it is asked for in a project that can be written;
    '' otherwise, and where there is nothing to say."""
    if store.read_only or not (service := find(store.folder)):
        return ""
    with store.read() as unit:
        if unit.meta.get(WARNED) == service:
            return ""
    with suppress(UserError), store.write() as unit:  # on a full disk it is said once more
        unit.meta.set(WARNED, service)
    return tr(SYNCHRONISED, service=service)
