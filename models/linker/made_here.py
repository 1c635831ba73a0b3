"""Which linkers this computer made or checked: the indexes of all other linkers are rebuilt before use.

A bundle's hashes show that its files are unchanged, not who made them. Indexes are read by code without bounds checks
(FAISS, compiled loops over arrays), so indexes from unknown sources are never read: ``repair`` computes them from the
bundle's knowledge base and encoders, whose formats are safe to read. With the embedding cache this takes seconds,
without it as long as building the linker.

The record is a text file with one seal (``bundle.seal_of``) a line, in the folder of the embedding cache. Without the
file every linker counts as foreign, which only costs time. There is no option to trust a linker without this: it would
save a few seconds, once, and pass an untrusted index to code without bounds checks.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

import platformdirs

log = logging.getLogger(__name__)

RECORD = "linkers-made-here.txt"


def record_path() -> Path:
    """The path in CURATOR_CACHE if set, otherwise in the user's cache folder."""
    return Path(os.environ.get("CURATOR_CACHE") or platformdirs.user_cache_dir("curator")) / RECORD


def note_made_here(seal: str) -> None:
    """Record the seal of a manifest that this computer wrote. If it cannot be written, this is only logged."""
    if is_made_here(seal):
        return
    path = record_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:  # one short write at the end: processes may add lines at the same time
            file.write(f"{seal}\n".encode("ascii"))
    except OSError as error:
        log.warning("%s cannot be written (%s): this linker's indexes will be built again.", path, error)


def is_made_here(seal: str) -> bool:
    """Whether the manifest with this seal was written on this computer. False if the record cannot be read."""
    try:
        return seal.encode("ascii") in record_path().read_bytes().split()
    except OSError:
        return False
