"""The `bundles/` folder of a project, read without loading any model."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from curator.domain.jobs import BundleInfo, GateVerdict
from curator.domain.wording import UnreadableError, UserError, tr
from curator.foreign_files import read_small
from curator.services.ports.processes import BundleVault

MANIFEST = "manifest.json"
SEAL = "seal"
STAGING_PREFIX = ".staging-"
UNREAD = "it cannot be read ({why})"
log = logging.getLogger(__name__)


class FolderBundleStore:
    """Implements `BundleStore`. A staging folder is complete when it holds a manifest, which is written last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self, *, active: str | None) -> list[BundleInfo]:
        """Published bundles, oldest first; a folder without a readable manifest is left out: `path` says why. Raises
        UnreadableError if the disk does not list them."""
        try:
            if not self._folder.is_dir():
                return []
            found = [
                info
                for path in self._folder.iterdir()
                if path.is_dir() and not path.name.startswith(".") and (info := _read(path, active)) is not None
            ]
        except OSError as error:
            raise _unreadable(error.filename or self._folder, error) from error
        return sorted(found, key=lambda info: (info.created_at, info.id))

    def new_staging(self) -> Path:
        staging = self._folder / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
        try:
            staging.mkdir(parents=True)
        except OSError as error:
            raise UserError(
                tr(
                    "The linker cannot be saved in {folder} ({strerror}). Check the folder's "
                    "permissions and the free disk space.",
                    folder=self._folder,
                    strerror=error.strerror,
                )
            ) from error
        return staging

    def promote(self, staging: Path) -> BundleInfo:
        """Publish a staging folder. Raises UserError if it is incomplete or unreadable, or the rename fails."""
        manifest = _known(staging)
        if manifest is None or not _complete(staging, manifest):
            raise UserError(
                tr(
                    "The new linker in {staging} is incomplete; the linker in use was not changed. "
                    "Start the job again.",
                    staging=staging,
                )
            )
        target = self._folder / str(manifest["id"])
        try:
            staging.rename(target)
            _fsync_folder(self._folder)
        except OSError as error:
            raise UserError(
                tr(
                    "The new linker could not be moved to {target} ({strerror}). Check the folder's "
                    "permissions and the free disk space.",
                    target=target,
                    strerror=error.strerror,
                )
            ) from error
        return _info(target, manifest, active=None)

    def discard(self, staging: Path) -> None:
        if staging.name.startswith(STAGING_PREFIX) and staging.parent == self._folder:
            with suppress(OSError):  # a bundle moved there for removal must not come back without some of its files
                _fsync_folder(self._folder)
            shutil.rmtree(staging, ignore_errors=True)

    def altered(self) -> Iterator[tuple[str, str, str]]:
        """(linker, file, problem) for each file that is missing or differs from its manifest, or for a manifest that is
        missing or differs from its seal; (linker, '', '') after each linker. Only files within the linker's folder are
        read."""
        folders = sorted(self._folder.iterdir()) if self._folder.is_dir() else []
        for folder in folders:
            if not folder.is_dir() or folder.name.startswith(".") or not any(folder.iterdir()):
                continue
            manifest, why = None, tr("it is missing or unreadable")
            try:
                manifest = _manifest(folder)
            except OSError as error:
                why = tr(UNREAD, why=error.strerror or error)
            if manifest is None:
                yield folder.name, MANIFEST, why
            elif SEAL in manifest and manifest[SEAL] != seal_of(manifest):  # older linkers have none
                yield folder.name, MANIFEST, tr("it was modified")
            for name, known in _object((manifest or {}).get("files")).items():
                if wrong := _wrong(folder, name, _object(known)):
                    yield folder.name, name, wrong
            yield folder.name, "", ""

    def clean(self) -> int:
        """Called only by the holder of the project's write lock, when it runs no job. What the disk does not list
        stays."""
        try:
            left = list(self._folder.glob(f"{STAGING_PREFIX}*")) if self._folder.is_dir() else []
        except OSError as error:
            log.warning("%s cannot be cleaned: %s", self._folder, error)
            return 0
        for staging in left:
            shutil.rmtree(staging, ignore_errors=True)
        return len(left)

    def path(self, bundle_id: str) -> Path:
        """The bundle's folder. Raises UserError if there is no such bundle, UnreadableError if the disk does not give
        its manifest."""
        path = self._folder / bundle_id
        if bundle_id in ("", ".", "..") or Path(bundle_id).name != bundle_id or _known(path) is None:
            raise UserError(
                tr(
                    "Linker {bundle_id!r} was not found in {folder}. `curator linkers` lists all linkers.",
                    bundle_id=bundle_id,
                    folder=self._folder,
                )
            )
        return path

    def forget(self, bundle_id: str) -> None:
        """Does nothing: only the folder had to be removed."""


class SharedBundleStore(FolderBundleStore):
    """The linkers of a shared project on this computer: new linkers are uploaded for others, and the linker in use is
    downloaded if it is missing here, and compared with its manifest."""

    def __init__(self, folder: Path, vault: BundleVault) -> None:
        super().__init__(folder)
        self._vault = vault
        self._fetching = Lock()

    def all(self, *, active: str | None) -> list[BundleInfo]:
        """All linkers. The one in use is downloaded first if it is only in the shared project. Raises UserError."""
        if active and active not in (".", "..") and Path(active).name == active:
            with self._fetching:  # several threads ask when a project is opened
                if not self._is_here(active) and self._vault.has(active):
                    self._fetch(active)
        return super().all(active=active)

    def promote(self, staging: Path) -> BundleInfo:
        """Publish a linker: it is uploaded before it gets its name here, so that others can get every linker in use."""
        manifest = _known(staging)
        if manifest is not None and _complete(staging, manifest):
            try:
                self._vault.keep(str(manifest["id"]), staging)
            except OSError as error:
                raise _unreadable(error.filename or staging, error) from error
        return super().promote(staging)

    def forget(self, bundle_id: str) -> None:
        self._vault.forget(bundle_id)

    def _is_here(self, name: str) -> bool:
        return (self._folder / name).exists()

    def _fetch(self, name: str) -> None:
        staging = self.new_staging()
        try:
            self._vault.fetch(name, staging)
            manifest = _known(staging)
            known = _object((manifest or {}).get("files"))
            wrong = [file for file, one in known.items() if _wrong(staging, file, _object(one))]
            if manifest is None or str(manifest["id"]) != name or wrong:
                raise UserError(
                    tr(
                        "Linker {name} of the shared project is damaged ({file}). Build it again, or put another one "
                        "into use.",
                        name=name,
                        file=wrong[0] if wrong else MANIFEST,
                    )
                )
            if not self._is_here(name):  # else another program of this user was faster
                super().promote(staging)
        except OSError as error:
            raise UserError(
                tr(
                    "Linker {name} cannot be saved in {folder} ({strerror}). Check the folder's permissions and the "
                    "free disk space.",
                    name=name,
                    folder=self._folder,
                    strerror=error.strerror or error,
                )
            ) from error
        finally:
            self.discard(staging)


def _known(path: Path) -> dict[str, Any] | None:
    """As `_manifest`, but raises UnreadableError."""
    try:
        return _manifest(path)
    except OSError as error:
        raise _unreadable(path / MANIFEST, error) from error


def _unreadable(path: Path, error: OSError) -> UnreadableError:
    return UnreadableError(tr("cannot read {path}: {strerror}", path=path, strerror=error.strerror or error))


def _manifest(path: Path) -> dict[str, Any] | None:
    """The manifest; None if it is missing or damaged. Raises OSError."""
    try:
        raw = json.loads(_text(path / MANIFEST))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) and "id" in raw else None


def _text(path: Path) -> str:
    """Read once more where a read failed: without its manifest, the linker in use would count as deleted."""
    try:
        return read_small(path)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError:
        return read_small(path)


def seal_of(manifest: Mapping[str, Any]) -> str:
    """The hash of its values that a manifest contains, as `models/linker/bundle.py` calculates it."""
    plain = {name: value for name, value in manifest.items() if name != SEAL}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _wrong(folder: Path, name: str, known: Mapping[str, Any]) -> str:
    """The problem with a linker's file; '' if it matches its manifest."""
    path = folder / name
    try:
        if path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
            return tr("it is outside of the linker's folder")
        if not path.is_file():
            return tr("it is missing")
    except (OSError, ValueError):  # not a valid name in any file system
        return tr("it is missing")
    try:
        return "" if _is_same(path, known) else tr("it was modified")
    except OSError as error:
        return tr(UNREAD, why=error.strerror or error)


def _complete(staging: Path, manifest: Mapping[str, Any]) -> bool:
    return all(
        (staging / name).is_file() and (staging / name).stat().st_size == info["size"]
        for name, info in manifest.get("files", {}).items()
    )


def _is_same(path: Path, known: Mapping[str, Any]) -> bool:
    """Raises OSError."""
    try:
        if path.stat().st_size != known.get("size"):
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == known.get("sha256")
    except AttributeError:
        return False


def _read(path: Path, active: str | None) -> BundleInfo | None:
    try:
        manifest = _manifest(path)
    except OSError as error:
        log.warning("the linker %s cannot be read: %s", path, error)
        return None
    return None if manifest is None else _info(path, manifest, active=active)


def _info(path: Path, manifest: Mapping[str, Any], *, active: str | None) -> BundleInfo:
    """The bundle's facts. A linker may come from an untrusted source: invalid values count as missing."""
    training = _object(manifest.get("training"))
    gate, seconds = _object(training.get("gate")), training.get("seconds")
    specs = manifest.get("retrievers")
    stages = [str(_object(spec).get("name", "")) for spec in (specs if isinstance(specs, list) else [])]
    if manifest.get("ranker"):
        stages.append("ranker")
    kind = str(manifest.get("kind", "untrained"))
    return BundleInfo(
        id=path.name,
        recipe="untrained-lexical" if kind == "untrained" and stages == ["lexical"] else kind,
        created_at=_time(str(manifest.get("created", ""))),
        path=str(path),
        active=path.name == active,
        verdict=_verdict(gate.get("verdict")),
        summary=str(gate.get("message", "")),
        stages=tuple(stages),
        kb_hash=str(manifest.get("kb_hash", "")),
        calibrated=bool(_object(manifest.get("nil")).get("calibrated", False)),
        metrics=dict(_object(manifest.get("metrics"))),
        parent=str(manifest.get("parent") or ""),
        seconds=float(seconds) if isinstance(seconds, int | float) else 0.0,
    )


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _verdict(value: object) -> GateVerdict:
    return GateVerdict(value) if isinstance(value, str) and value in list(GateVerdict) else GateVerdict.NOT_GATED


def _time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _fsync_folder(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
