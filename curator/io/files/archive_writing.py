"""Write many files as a folder or a zip archive: all of them or none."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from curator.io.files.atomic import AtomicFiles, cut, write_error

MOST_BYTES = 250
"""The most bytes of a file's name, including its ending; file systems allow 255."""
DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names that Windows reserves for devices, with any ending."""


def write_files(out: Path, pieces: Iterable[tuple[str, bytes]]) -> list[Path]:
    """Write the named files into the zip archive `out` (a name that ends with .zip) or the folder `out`; all or none.

    Names are relative, parts separated by `/`. Returns the archive, or the files. Raises UserError.
    """
    if out.suffix.lower() == ".zip" and not out.is_dir():
        return [_write_zip(out, pieces)]
    written: list[Path] = []
    with AtomicFiles() as atomic:
        atomic.folder(out)
        for name, content in pieces:
            target = out.joinpath(*PurePosixPath(safe_name(name, MOST_BYTES)).parts)
            _make_folders(atomic, out, target.parent)
            atomic.put(target, content)
            written.append(target)
    return written


def safe_name(name: str, most: int = 200) -> str:
    """`name` as a relative path that cannot leave its folder: `../a` becomes `_/a`, and no part is empty, hidden, or
    longer than `most` bytes, so that a number and an ending can be added. The result is the same on every system: no
    part is a name that Windows reserves for a device, or ends with characters that Windows removes."""
    cleaned = "".join("_" if ch in '\\:*?"<>|' or ord(ch) < 32 else ch for ch in name)
    parts = [part for part in cleaned.split("/") if part.strip()]
    shown = ("_" + part.lstrip(".") if part.startswith(".") else part for part in parts)
    return "/".join(_for_windows(cut(part, most)) for part in shown) or "_"


def _for_windows(part: str) -> str:
    if part[-1] in ". ":
        part = part[:-1] + "_"
    return "_" + part if DEVICE.fullmatch(part) else part


def _write_zip(out: Path, pieces: Iterable[tuple[str, bytes]]) -> Path:
    with AtomicFiles() as atomic:
        stream = atomic.open(out)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in pieces:
                # dated 1980, so that the same content is the same archive
                member = zipfile.ZipInfo(safe_name(name, MOST_BYTES))
                member.compress_type = zipfile.ZIP_DEFLATED
                member.external_attr = 0o644 << 16
                archive.writestr(member, content)
    return out


def _make_folders(atomic: AtomicFiles, out: Path, folder: Path) -> None:
    missing = []
    try:
        while folder != out and not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
    except OSError as error:  # the path is too long
        raise write_error(folder, error) from error
    for one in reversed(missing):
        atomic.folder(one)
