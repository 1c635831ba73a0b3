"""Folders that another program synchronises, where a database may change while Curator writes it.

Dropbox, OneDrive and similar programs copy single files when they change. A project's database and its log belong
together; if they are copied separately, or restored from another computer while Curator writes, decisions are lost or
the file is damaged. The other computer does not see the lock either. So whoever writes to a project in such a folder is
warned once on each computer: that it was done is remembered outside the project, which is copied to the others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from curator.domain.wording import tr
from curator.services.ports.storage import Store

SYNCHRONISED = (
    "This project is in a folder that {service} synchronises. Synchronising can damage a project that is open, and "
    "does not stop a second computer from writing to it. Move the project to another folder. For copies, use a release "
    "or an export."
)
WARNED = "synchronised.json"
"""The file, next to the settings, with the service of the last warning for each folder of a project."""
MOST = 200
"""Folders in it, last warned of last."""
NAMES = {
    "Dropbox": re.compile(r"dropbox( \(.*\))?", re.IGNORECASE),
    "OneDrive": re.compile(r"onedrive( - .*|-.*)?", re.IGNORECASE),
    "Google Drive": re.compile(r"google ?drive(-.*| - .*)?|my drive", re.IGNORECASE),
    "iCloud": re.compile(r"icloud ?drive( \(.*\))?|com~apple~clouddocs|mobile documents", re.IGNORECASE),
    "Nextcloud": re.compile(r"nextcloud\d*", re.IGNORECASE),
    "ownCloud": re.compile(r"owncloud\d*", re.IGNORECASE),
    "pCloud": re.compile(r"pclouddrive|pcloud drive", re.IGNORECASE),
}
"""Names of the folders that these programs synchronise."""
MARKERS = {
    ".dropbox": "Dropbox",
    ".dropbox.cache": "Dropbox",
    ".nextcloudsync.log": "Nextcloud",
    ".owncloudsync.log": "ownCloud",
    ".tmp.drivedownload": "Google Drive",
    ".stfolder": "Syncthing",
    ".SynologyWorkingDirectory": "Synology Drive",
}
"""Marker files and folders of these programs."""


def sync_service(folder: Path) -> str:
    """The program that synchronises `folder` or one above it; '' if there is no sign of one.

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


def place_warning(
    store: Store, read: Callable[[], Any], write: Callable[[Any], None], find: Callable[[Path], str] = sync_service
) -> str:
    """The sentence about the project's folder, at the first call on this computer for a writable project; otherwise,
    and without a warning, ''. `read` and `write` give and keep what `WARNED` holds."""
    if store.read_only or not (service := find(store.folder)):
        return ""
    found, place = read(), os.path.realpath(store.folder)
    warned = dict(found) if isinstance(found, dict) else {}
    if warned.pop(place, "") == service:
        return ""
    write(dict([*warned.items(), (place, service)][-MOST:]))  # on a full disk it is shown again
    return tr(SYNCHRONISED, service=service)
