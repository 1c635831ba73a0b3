"""Bundles: immutable folders ``bundles/ID/`` holding everything one linker needs.

A bundle is written to a staging folder next to its final place, sealed (hashes of all files in ``manifest.json``,
everything flushed to disk), and published with one rename. It can be opened for evaluation before it is published.

    staging = new_staging(bundles)
    reuse(old, "kb.jsonl", staging)             # unchanged big files are shared by hard link
    seal(staging, manifest)                     # in the job that made it
    publish(staging)                            # when it is promoted
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from models.core.file_io import fsync_file, fsync_folder, read_json, sha256_file, write_json, writing
from models.encoders.encoders import Encoder, save_encoder
from models.errors import ModelError, say
from models.linker.made_here import note_made_here

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
STAGING_PREFIX = ".staging-"
ENCODERS = "encoders"
SEAL = "seal"
"""The manifest's key for the hash of all its other values; manifests of earlier versions have none."""
LONGEST_NAME = 255  # bytes
UNTRAINED = "untrained"
REMEDY = "Roll back to another linker, or rebuild the linker from the knowledge base."
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EncoderRef:
    """Where an encoder is: "default" (the pinned package) or "bundle" (``path`` inside the bundle)."""

    source: str
    fingerprint: str
    path: str = ""
    max_tokens: int = 64


@dataclass(frozen=True, slots=True)
class RetrieverSpec:
    """One retriever: ``kind`` "lexical", "names" or "biencoder", its folder in the bundle, its encoders.

    "names" has one encoder; "biencoder" has the mention's and the entity's (twice the same if shared). ``settings`` are
    the fields of the retriever's settings class.
    """

    name: str
    kind: str
    folder: str
    encoders: tuple[EncoderRef, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RankerSpec:
    """A re-ranker of the first ``top_k`` candidates; encoders are the mention's and the entity's."""

    name: str
    kind: str
    folder: str
    encoders: tuple[EncoderRef, ...] = ()
    top_k: int = 16
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileInfo:
    """The expected size in bytes and SHA-256 of a file."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """All data of a bundle except its large files.

    ``fusion``, ``nil`` and ``combiner`` are the JSON of ``models.retrievers.fusion.FusionWeights``,
    ``models.rankers.nil.NilModel`` and ``models.rankers.combiner.Combiner``; empty means the defaults. ``metrics`` is
    free JSON (the old and the new linker on the same documents).
    """

    id: str
    kind: str
    created: str
    kb_hash: str
    kb_entities: int
    kb_names: int
    retrievers: tuple[RetrieverSpec, ...]
    ranker: RankerSpec | None = None
    fusion: Mapping[str, Any] = field(default_factory=dict)
    nil: Mapping[str, Any] = field(default_factory=dict)
    combiner: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    parent: str = ""
    training: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, FileInfo] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    def retriever(self, name: str) -> RetrieverSpec | None:
        return next((spec for spec in self.retrievers if spec.name == name), None)

    def replace(self, **changes: Any) -> Manifest:
        return dataclasses.replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Bundle:
    """An opened bundle: a folder whose files agree with its manifest."""

    path: Path
    manifest: Manifest

    def file(self, relative: str) -> Path:
        return self.path / relative

    def encoder_folder(self, ref: EncoderRef) -> Path:
        """The folder of an encoder; raises ModelError if the default package is missing or altered."""
        from models.encoders.default_encoder import default_encoder_folder

        if ref.source == "default":
            return default_encoder_folder()
        return self.path / ref.path


def new_id(kind: str) -> str:
    """A readable id that sorts by time, e.g. ``20260131-120501-pel-pb-1f3a``."""
    safe = re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-") or "bundle"
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{safe}-{secrets.token_hex(2)}"


def now() -> str:
    """The current time, in UTC, in the manifest's format."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def new_staging(bundles: Path) -> Path:
    """An empty staging folder in ``bundles``, on the future bundle's file system. Raises ModelError if it is not
    writable."""
    try:
        bundles.mkdir(parents=True, exist_ok=True)
        staging = bundles / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
        staging.mkdir()
    except OSError as error:
        raise ModelError(
            say(
                "Cannot save a linker to {bundles} ({strerror}). Check the folder's permissions and the "
                "free disk space.",
                bundles=bundles,
                strerror=error.strerror,
            )
        ) from error
    return staging


def discard_staging(staging: Path) -> None:
    """Remove a staging folder; this package removes nothing else."""
    if staging.name.startswith(STAGING_PREFIX):
        shutil.rmtree(staging, ignore_errors=True)


def store_encoder(encoder: Encoder, staging: Path) -> EncoderRef:
    """Write an encoder into a staging folder, in a folder named by its content.

    A name that says nothing of the content may already be there as a hard link to a bundle that serves, whose weights
    would be overwritten.
    """
    beside = staging / f"{ENCODERS}/.{secrets.token_hex(6)}"
    fingerprint = save_encoder(encoder, beside)
    ref = encoder_ref(fingerprint, encoder.max_tokens)
    if (staging / ref.path).exists():  # the same encoder
        shutil.rmtree(beside)
    else:
        beside.rename(staging / ref.path)
    return ref


def encoder_ref(fingerprint: str, max_tokens: int) -> EncoderRef:
    """The reference to an encoder in a bundle, in the folder named by its content and length limit."""
    return EncoderRef("bundle", fingerprint, f"{ENCODERS}/{fingerprint[:16]}-{max_tokens}", max_tokens)


def reuse(source: Bundle, relative: str, staging: Path) -> None:
    """Share a file or a whole folder of ``source`` with a staging folder: hard links, copies as fallback. They replace
    files of these names; nothing is written into a file, which may be shared with a bundle."""
    origin = source.path / relative
    files = sorted(path for path in origin.rglob("*") if path.is_file()) if origin.is_dir() else [origin]
    for file in files:
        target = staging / file.relative_to(source.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        try:
            os.link(file, target)
        except OSError:
            shutil.copyfile(file, target)


def seal(staging: Path, manifest: Manifest, *, known: Bundle | None = None) -> Bundle:
    """Flush and hash every file of a staging folder and write its manifest.

    Files shared with the bundle ``known`` (same inode) keep their recorded hash.
    """
    with writing(staging):
        infos = {}
        for path in _files(staging):
            relative = path.relative_to(staging).as_posix()
            infos[relative] = _known_info(path, relative, known) or _fresh_info(path)
        for folder in {path.parent for path in _files(staging)}:
            fsync_folder(folder)
        sealed = manifest_to_json(manifest.replace(files=infos, format_version=FORMAT_VERSION))
        write_json(staging / MANIFEST, sealed)
    note_made_here(seal_of(sealed))
    return open_bundle(staging)


def publish(staging: Path) -> Bundle:
    """Rename a sealed staging folder to ``bundles/ID`` after checking every hash; returns the bundle. Raises ModelError
    if a hash differs or the id exists."""
    manifest = open_bundle(staging, verify="full").manifest
    target = staging.parent / manifest.id
    if target.exists():
        raise ModelError(
            say(
                "Linker {id} already exists in {parent}. Build the linker again.", id=manifest.id, parent=staging.parent
            )
        )
    with writing(target):
        staging.rename(target)
        fsync_folder(target.parent)
    return Bundle(target, manifest)


def open_bundle(path: Path | str, *, verify: str = "quick") -> Bundle:
    """Open a bundle (or a sealed staging folder).

    ``verify`` "quick" compares sizes, "full" hashes too, "manifest" nothing.

    Raises ModelError if something is missing, altered, or of a newer version.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise ModelError(say("The linker {folder} was not found. {remedy}", folder=folder, remedy=say(REMEDY)))
    raw = read_json(folder / MANIFEST, what=say("The linker's manifest"), remedy=say(REMEDY))
    bundle = Bundle(folder, manifest_from_json(raw, where=folder))
    _refuse_links(bundle)
    for relative, info in bundle.manifest.files.items() if verify != "manifest" else ():
        _check_file(folder / relative, info, full=verify == "full")
    return bundle


def list_bundles(bundles: Path) -> list[Manifest]:
    """Manifests of all published bundles, oldest first; unreadable ones are left out."""
    found = []
    for path in sorted(bundles.iterdir()) if bundles.is_dir() else []:
        if path.is_dir() and not path.name.startswith("."):
            try:
                found.append(manifest_from_json(read_json(path / MANIFEST, what="", remedy=""), where=path))
            except ModelError:
                continue
    return sorted(found, key=lambda manifest: (manifest.created, manifest.id))


def manifest_to_json(manifest: Manifest) -> Json:
    """The manifest as JSON with its seal, with which ``manifest_from_json`` detects every changed value."""
    raw = dataclasses.asdict(manifest)
    return {**raw, SEAL: seal_of(raw)}


def seal_of(raw: Mapping[str, Any]) -> str:
    """SHA-256 of a manifest's values except the seal, regardless of order and layout of the file."""
    plain = {name: value for name, value in raw.items() if name != SEAL}
    text = json.dumps(json.loads(json.dumps(plain)), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def seal_at(folder: Path) -> str:
    """The seal of the bundle in ``folder``, computed if its manifest has none. Raises ModelError."""
    raw = read_json(folder / MANIFEST, what=say("The linker's manifest"), remedy=say(REMEDY))
    return str(raw.get(SEAL) or seal_of(raw))


def manifest_from_json(raw: Any, *, where: Path) -> Manifest:
    """The manifest from JSON; raises ModelError if it is of another version, malformed, or differs from its seal."""
    version = raw.get("format_version") if isinstance(raw, dict) else None
    if version != FORMAT_VERSION:
        raise ModelError(
            say(
                "The linker {where} has format {version!r}; this program reads format {format_version}. {remedy}",
                where=where,
                version=version,
                format_version=FORMAT_VERSION,
                remedy=say(REMEDY),
            )
        )
    if SEAL in raw and raw[SEAL] != seal_of(raw):
        raise ModelError(
            say(
                "The manifest of {where} is damaged: its values are not those it was written with. {remedy}",
                where=where,
                remedy=say(REMEDY),
            )
        )
    try:
        manifest = _parse({name: value for name, value in raw.items() if name != SEAL})
        outside = next((name for name in _places(manifest) if not is_inside(name)), None)
        away = not is_inside(manifest.id) or "/" in manifest.id
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            say(
                "The manifest of {where} is damaged ({error!r}). {remedy}", where=where, error=error, remedy=say(REMEDY)
            )
        ) from error
    if outside is not None or away:
        raise ModelError(
            say(
                "The manifest of {where} names a place outside of its folder ({name!r}), so it is not read. {remedy}",
                where=where,
                name=manifest.id if outside is None else outside,
                remedy=say(REMEDY),
            )
        )
    return manifest


def is_inside(name: str) -> bool:
    """Whether a path of a manifest is inside the bundle's folder, on every system: a linker may come from an untrusted
    source."""
    path = PureWindowsPath(name)  # it handles both separators, and drives
    if path.anchor or path.drive or ".." in path.parts or "\0" in name or name == "":
        return False
    try:
        return all(len(part.encode()) <= LONGEST_NAME for part in path.parts)
    except UnicodeEncodeError:  # no file has such a name
        return False


def _places(manifest: Manifest) -> Iterator[str]:
    yield from manifest.files
    for spec in (*manifest.retrievers, *((manifest.ranker,) if manifest.ranker else ())):
        yield spec.folder
        yield from (ref.path for ref in spec.encoders if ref.source != "default")


def _parse(raw: Json) -> Manifest:
    fields = dict(raw)
    fields["retrievers"] = tuple(RetrieverSpec(**_with_encoders(spec)) for spec in raw["retrievers"])
    fields["ranker"] = RankerSpec(**_with_encoders(raw["ranker"])) if raw.get("ranker") else None
    fields["files"] = {name: FileInfo(**info) for name, info in raw["files"].items()}
    fields["seeds"] = tuple(raw.get("seeds", ()))
    return Manifest(**fields)


def _with_encoders(raw: Json) -> Json:
    return {**raw, "encoders": tuple(EncoderRef(**ref) for ref in raw.get("encoders", ()))}


def _refuse_links(bundle: Bundle) -> None:
    """Raises ModelError for symbolic links: a repair would write through them."""
    for relative in dict.fromkeys(
        part
        for name in _places(bundle.manifest)
        for part in (name, *(one.as_posix() for one in PurePosixPath(name).parents))
    ):
        if (found := bundle.path / relative).is_symlink() and relative != ".":
            raise ModelError(
                say(
                    "{path} is a link, and a linker consists of plain files, so it is not read. {remedy}",
                    path=found,
                    remedy=say(REMEDY),
                )
            )


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)


def _fresh_info(path: Path) -> FileInfo:
    fsync_file(path)
    return FileInfo(path.stat().st_size, sha256_file(path))


def _known_info(path: Path, relative: str, known: Bundle | None) -> FileInfo | None:
    info = known.manifest.files.get(relative) if known else None
    if known is None or info is None or not (known.path / relative).exists():
        return None
    return info if path.samefile(known.path / relative) else None


def _check_file(path: Path, info: FileInfo, *, full: bool) -> None:
    if not path.is_file():
        raise ModelError(say("The linker is incomplete: {path} is missing. {remedy}", path=path, remedy=say(REMEDY)))
    if path.stat().st_size != info.size:
        raise ModelError(
            say(
                "The linker is damaged: {path} has {st_size} bytes, not {size}. {remedy}",
                path=path,
                st_size=path.stat().st_size,
                size=info.size,
                remedy=say(REMEDY),
            )
        )
    if full and sha256_file(path) != info.sha256:
        raise ModelError(say("The linker is damaged: {path} was modified. {remedy}", path=path, remedy=say(REMEDY)))
