"""Files split into pieces of a bounded size, and joined again; every byte is checked by SHA-256.

A folder of pieces holds `manifest.json` and `piece-000.bin`, `piece-001.bin`, …: the files' bytes, one after another in
the manifest's order, cut where a piece is full. Pieces may arrive in several loads: what has arrived is kept.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

FORMAT = 1
MANIFEST = "manifest.json"
READ = 2**20
Json = dict[str, Any]


class PackError(Exception):
    """What is missing or damaged, where, and what to do."""


def split(files: Mapping[str, Path], out: Path, *, size: int, facts: Mapping[str, Any] | None = None) -> Json:
    """Write `files` (path in the material → file) as pieces of at most `size` bytes; returns the manifest.

    Pieces of an earlier call are removed first. `facts` are kept in the manifest.
    """
    if size < 1:
        raise PackError(f"A piece of {size} bytes holds nothing. Choose a size of at least 1 byte.")
    out.mkdir(parents=True, exist_ok=True)
    for old in (*out.glob("piece-*.bin"), out / MANIFEST):
        old.unlink(missing_ok=True)
    entries = [
        {"path": _safe(name), "size": path.stat().st_size, "sha256": digest(path)} for name, path in files.items()
    ]
    pieces: list[Json] = []
    for number, chunks in enumerate(_cut(files.values(), size)):
        name, whole, length = f"piece-{number:03d}.bin", hashlib.sha256(), 0
        with (out / name).open("wb") as handle:
            for chunk in chunks:
                handle.write(chunk)
                whole.update(chunk)
                length += len(chunk)
        pieces.append({"name": name, "size": length, "sha256": whole.hexdigest()})
    manifest = {"format": FORMAT, "facts": dict(facts or {}), "files": entries, "pieces": pieces}
    (out / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    return manifest


def take(source: Path, kept: Path) -> list[str]:
    """Copy the sound pieces of `source` to `kept`, with the manifest; returns the names of those still missing.

    PackError where there is no manifest, it is of another pack than that in `kept`, or a piece is damaged.
    """
    manifest = read_manifest(source if (source / MANIFEST).is_file() else kept)
    if (kept / MANIFEST).is_file() and read_manifest(kept) != manifest:
        raise PackError(f"{source} holds pieces of another pack than {kept}. Remove {kept}, then join again.")
    kept.mkdir(parents=True, exist_ok=True)
    (kept / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    for piece in manifest["pieces"]:
        there, here = source / piece["name"], kept / piece["name"]
        if there.is_file() and not here.is_file():
            _check(there, piece, remedy="Copy this piece again")
            partial = here.with_suffix(".part")
            shutil.copyfile(there, partial)
            partial.replace(here)
    return [piece["name"] for piece in manifest["pieces"] if not (kept / piece["name"]).is_file()]


def join(kept: Path, out: Path) -> Json:
    """Write the files of all pieces in `kept` below `out`, each checked; returns the manifest.

    PackError names the pieces that are missing, or what is damaged.
    """
    manifest = read_manifest(kept)
    missing = [piece["name"] for piece in manifest["pieces"] if not (kept / piece["name"]).is_file()]
    if missing:
        raise PackError(
            f"{len(missing)} of {len(manifest['pieces'])} pieces are missing in {kept}: {', '.join(missing)}. "
            "Bring them, then join again."
        )
    for piece in manifest["pieces"]:
        _check(kept / piece["name"], piece, remedy="Remove this piece and bring it again")
    with closing(_Stream(kept / piece["name"] for piece in manifest["pieces"])) as stream:
        for entry in manifest["files"]:
            _write(out / entry["path"], stream.read(int(entry["size"])), sha256=entry["sha256"])
    return manifest


def read_manifest(folder: Path) -> Json:
    """PackError where it is missing, damaged, or of another version."""
    path = folder / MANIFEST
    try:
        manifest: Json = json.loads(path.read_text(encoding="utf-8"))
        version, _ = manifest["format"], [(one["name"], one["size"], one["sha256"]) for one in manifest["pieces"]]
        _ = [(_safe(one["path"]), one["size"], one["sha256"]) for one in manifest["files"]]
    except FileNotFoundError as error:
        raise PackError(f"{path} is missing. Make pieces with: python -m tests.gpu pack --out {folder}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PackError(f"{path} is damaged ({error}). Copy it again, or pack again.") from error
    if version != FORMAT:
        raise PackError(f"{path} is of version {version}, this program reads {FORMAT}. Pack again.")
    return manifest


def digest(path: Path) -> str:
    """SHA-256 in hexadecimal digits."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


class _Stream:
    """The bytes of several files as one; the files are read one after another."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = list(paths)
        self._handle: BinaryIO | None = None

    def read(self, size: int) -> Iterator[bytes]:
        """The next `size` bytes in chunks; fewer where nothing is left."""
        while size:
            if self._handle is None:
                if not self._paths:
                    return
                self._handle = self._paths.pop(0).open("rb")
            chunk = self._handle.read(min(size, READ))
            if not chunk:
                self._handle.close()
                self._handle = None
                continue
            size -= len(chunk)
            yield chunk

    def close(self) -> None:
        if self._handle is not None:
            self._handle.close()


def _cut(paths: Iterable[Path], size: int) -> Iterator[Iterator[bytes]]:
    """The bytes of all files, piece by piece; each piece is to be read to its end before the next is asked for."""
    with closing(_Stream(paths)) as stream:
        while first := next(chunks := stream.read(size), b""):
            yield chain((first,), chunks)


def _write(target: Path, chunks: Iterable[bytes], *, sha256: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    whole = hashlib.sha256()
    with target.open("wb") as handle:
        for chunk in chunks:
            handle.write(chunk)
            whole.update(chunk)
    if whole.hexdigest() != sha256:
        raise PackError(f"{target} is damaged: its SHA-256 is not the manifest's. Pack again, and bring all pieces.")


def _check(path: Path, piece: Mapping[str, Any], *, remedy: str) -> None:
    if _length(path) != piece["size"] or digest(path) != piece["sha256"]:
        raise PackError(f"{path} is damaged: its length or SHA-256 is not the manifest's. {remedy}, then join again.")


def _length(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1


def _safe(name: str) -> str:
    """A relative path that stays below the folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(f"a path outside of the folder: {name!r}")
    return path.as_posix()
