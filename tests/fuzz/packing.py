"""Inputs of several files as one run of bytes, so that a fuzzer can change what is in them and how they are called."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

MARK = b"\n=== "
"""Before the name of each file; the name's line ends with a line feed."""


def pack(files: Mapping[str, bytes]) -> bytes:
    return b"".join(MARK + name.encode() + b"\n" + content for name, content in files.items())


def unpack(data: bytes) -> dict[str, bytes]:
    """Files by name; the text before the first name is in no file."""
    found = {}
    for piece in data.split(MARK)[1:]:
        name, _, content = piece.partition(b"\n")
        found[name.decode("utf-8", "replace")] = content
    return found


def as_folder(data: bytes, folder: Path) -> None:
    """The files below the folder; names are such as every file system takes."""
    for name, content in unpack(data).items():
        name = "".join(ch if " " <= ch < "\x7f" else "_" for ch in name)
        parts = [part[:100] for part in PurePosixPath(name).parts[:5] if part not in ("/", "..")]
        target = folder.joinpath(*parts)
        if parts and not target.exists() and all(one == folder or not one.is_file() for one in target.parents):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def as_zip(data: bytes) -> bytes:
    """The files as a zip archive, under their names."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in unpack(data).items():
            archive.writestr(zipfile.ZipInfo(name[:1000] or "_"), content)
    return stream.getvalue()


def of_path(path: Path) -> bytes:
    """A file's bytes, or a folder's files packed."""
    if not path.is_dir():
        return path.read_bytes()
    files = sorted(one for one in path.rglob("*") if one.is_file())
    return pack({one.relative_to(path).as_posix(): one.read_bytes() for one in files})
