"""Many files as a folder or as a zip archive: all of them or none."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from curator.io.atomic import AtomicFiles


def write_files(out: Path, pieces: Iterable[tuple[str, bytes]]) -> list[Path]:
    """Write the named files into the zip archive `out` (a name that ends so) or the folder `out`; all or none.

    Names are relative, parts separated by `/`. Returns the archive, or the files. Raises UserError.
    """
    if out.suffix.lower() == ".zip" and not out.is_dir():
        return [_write_zip(out, pieces)]
    written: list[Path] = []
    with AtomicFiles() as atomic:
        atomic.folder(out)
        for name, content in pieces:
            target = out.joinpath(*PurePosixPath(safe_name(name)).parts)
            _make_folders(atomic, out, target.parent)
            atomic.put(target, content)
            written.append(target)
    return written


def safe_name(name: str) -> str:
    """`name` as a relative path that stays where it is: `../a` is `_/a`, and no part is empty or hidden."""
    cleaned = "".join("_" if ch in '\\:*?"<>|' or ord(ch) < 32 else ch for ch in name)
    parts = [part for part in cleaned.split("/") if part.strip()]
    return "/".join("_" + part.lstrip(".") if part.startswith(".") else part[:200] for part in parts) or "_"


def _write_zip(out: Path, pieces: Iterable[tuple[str, bytes]]) -> Path:
    with AtomicFiles() as atomic:
        stream = atomic.open(out)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in pieces:
                member = zipfile.ZipInfo(safe_name(name))  # dated 1980, so that the same content is the same archive
                member.compress_type = zipfile.ZIP_DEFLATED
                member.external_attr = 0o644 << 16
                archive.writestr(member, content)
    return out


def _make_folders(atomic: AtomicFiles, out: Path, folder: Path) -> None:
    missing = []
    while folder != out and not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        atomic.folder(one)
