"""The bundle in use: a pointer that is set only after the folder is in place, and rollback."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from curator.domain.decisions import Change, ChangeKind
from curator.domain.jobs import Activation, ActivationKind, BundleInfo
from curator.domain.wording import UnreadableError, UserError, localised, tr
from curator.foreign_files import read_small
from curator.services.core.context import Context, Service
from curator.services.core.keys import activations, active_bundle, append_activation, bundle_history, set_active_bundle
from curator.services.ports.processes import BundleStore
from curator.services.ports.storage import UnitOfWork

UNTRAINED = ("untrained", "untrained-lexical")
FULL_STAGE = "names"

REPLACED = (
    "The knowledge base has been replaced since linker {bundle_id} was built from it. Build the index of the new one."
)


class BundleSwitch(Service):
    """Lists, publishes, activates and rolls back bundles of the current knowledge base."""

    def __init__(self, context: Context, bundles: BundleStore) -> None:
        super().__init__(context)
        self._bundles = bundles

    def active_id(self) -> str:
        with self._store.read() as unit:
            return active_bundle(unit.meta)

    def all(self) -> list[BundleInfo]:
        """All bundles, oldest first."""
        return self._bundles.all(active=self.active_id())

    def active(self) -> BundleInfo | None:
        return next((one for one in self.all() if one.active), None)

    def is_unread(self) -> bool:
        """Whether the disk does not give the bundle in use. It is there, and may have been trained."""
        try:
            self._bundles.path(self.active_id())
        except UnreadableError:
            return True
        except UserError:
            return False
        return False

    def serving(self) -> list[BundleInfo]:
        """The bundles of the active one's knowledge base, oldest first; none before the first index."""
        active = self.active()
        return [one for one in self.all() if one.kb_hash == active.kb_hash] if active else []

    def publish(self, staging: Path) -> BundleInfo:
        """Publish a complete staging folder; the bundle in use does not change."""
        return self._bundles.promote(staging)

    def activate(
        self, bundle_id: str, *, kind: ActivationKind = ActivationKind.JOB, reason: str = "", kb: str = ""
    ) -> Change:
        """Put a bundle into use. `kb`: the content hash of the knowledge base of which its index was just built; only
        such a bundle follows a new knowledge base. Raises UserError for an unknown bundle or one for another knowledge
        base."""
        self._bundles.path(bundle_id)
        there = {one.id: one for one in self.all()}
        if bundle_id not in there:  # it was there a moment ago
            raise UserError(
                tr(
                    "The files of linker {bundle_id} cannot be read. Check the disk, then try again.",
                    bundle_id=bundle_id,
                )
            )
        with self._store.write() as unit:
            self._refuse_other_kb(unit, there, bundle_id, kb)
            history = [one for one in bundle_history(unit.meta) if one != bundle_id]
            set_active_bundle(unit.meta, bundle_id, [*history, bundle_id])
            self._log(unit, bundle_id, kind, reason)
        return self._changed(tr("Linker {bundle} is now in use", bundle=bundle_id))

    def delete(self, bundle_id: str) -> Change:
        """Remove a bundle's folder; files shared with other bundles stay there. Raises UserError for the bundle in use,
        for an unknown one, and if permissions forbid it."""
        path = self._bundles.path(bundle_id)
        staging = self._bundles.new_staging()
        away = staging / path.name
        try:
            with self._store.write() as unit:  # first what may be refused
                active = active_bundle(unit.meta)
                if bundle_id == active:
                    raise UserError(
                        tr(
                            "Linker {bundle_id} is in use. Use another one before you delete it.",
                            bundle_id=bundle_id,
                        )
                    )
                set_active_bundle(unit.meta, active, [one for one in bundle_history(unit.meta) if one != bundle_id])
                path.rename(away)  # removed in one step; remains of a crash go with other staging folders
            self._bundles.forget(bundle_id)
        except BaseException as error:
            if away.exists():
                away.rename(path)
            self._bundles.discard(staging)
            if not isinstance(error, OSError):
                raise
            raise UserError(
                tr(
                    "{path} cannot be removed ({strerror}). Check the folder's permissions.",
                    path=path,
                    strerror=error.strerror,
                )
            ) from error
        self._bundles.discard(staging)
        return self._changed(tr("Deleted linker {bundle}", bundle=bundle_id))

    def activations(self) -> list[Activation]:
        """Since when, by whom and why each bundle was in use; oldest first, including deleted bundles."""
        with self._store.read() as unit:
            return activations(unit.meta)

    def earlier(self) -> BundleInfo | None:
        """The bundle used before, to which `rollback` returns; None if there is none."""
        there = {one.id: one for one in self.all()}
        with self._store.read() as unit:
            history = [one for one in bundle_history(unit.meta) if one in there]
        return there[history[-2]] if len(history) > 1 else None

    def rollback(self) -> Change:
        """Return to the bundle used before. Raises UserError if there is none."""
        there = {one.id for one in self.all()}
        with self._store.write() as unit:
            history = [one for one in bundle_history(unit.meta) if one in there]
            if len(history) < 2:
                raise UserError(tr("There is no earlier linker to roll back to."))
            set_active_bundle(unit.meta, history[-2], history[:-1])
            self._log(unit, history[-2], ActivationKind.ROLLBACK, "")
        return self._changed(tr("Rolled back to linker {bundle}", bundle=history[-2]))

    def _log(self, unit: UnitOfWork, bundle_id: str, kind: ActivationKind, reason: str) -> None:
        append_activation(unit.meta, Activation(bundle_id, datetime.now(UTC), self._curator(), kind, reason))

    def _refuse_other_kb(
        self, unit: UnitOfWork, there: Mapping[str, BundleInfo], bundle_id: str, built_from: str
    ) -> None:
        info, active = unit.kb.info(), active_bundle(unit.meta)
        if not active or built_from:  # a new knowledge base puts every bundle out of use
            if info is None or info.content_hash != built_from:
                raise UserError(tr(REPLACED, bundle_id=bundle_id))
        elif active in there and there[active].kb_hash != there[bundle_id].kb_hash:
            raise UserError(
                tr(
                    "Linker {bundle_id} was built for another knowledge base than the project's. Retrain instead.",
                    bundle_id=bundle_id,
                )
            )

    def _changed(self, text: str) -> Change:
        change = Change(ChangeKind.BUNDLE, self._curator(), text)
        return self._emit(change)


# Disk usage of bundles, and their manifests without the figures.

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Bytes. `size` counts every file of the bundle; `own` those not shared with another bundle by a hard link, which
    deleting only this one would free."""

    size: int
    own: int


@dataclass(frozen=True, slots=True)
class DiskReport:
    """`bundles` by id; `total` counts each shared file once. `trainings`: the checkpoints of interrupted trainings."""

    bundles: dict[str, DiskUse]
    total: int
    trainings: int = 0


def disk_use(bundles: Sequence[BundleInfo], *, trainings: Sequence[Path] = ()) -> DiskReport:
    """Disk usage from every file's size and links, without reading files. `trainings`: folders of interrupted
    trainings."""
    files = {one.id: _files(Path(one.path)) for one in bundles}
    owners: dict[tuple[int, int], int] = {}
    sizes: dict[tuple[int, int], int] = {}
    for found in files.values():
        for key, size in found.items():
            owners[key] = owners.get(key, 0) + 1
            sizes[key] = size
    uses = {
        name: DiskUse(sum(found.values()), sum(size for key, size in found.items() if owners[key] == 1))
        for name, found in files.items()
    }
    kept = sum(size for folder in trainings for size in _files(folder).values())
    return DiskReport(uses, sum(sizes.values()), kept)


def _files(folder: Path) -> dict[tuple[int, int], int]:
    """(device, inode) and size of each file; files that vanish meanwhile do not count."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                stat = (Path(place) / name).stat()
            except OSError:
                continue
            found[stat.st_dev, stat.st_ino] = stat.st_size
    return found


def manifest_text(bundle: BundleInfo) -> str:
    """The manifest without the long lists of figures, flips and files, as indented JSON; '' if it is unreadable."""
    raw = read_manifest(bundle)
    if not raw:
        return ""
    shown = {key: value for key, value in raw.items() if key not in ("metrics", "files")}
    files = raw.get("files")
    files = files if isinstance(files, dict) else {}
    shown["files"] = {name: one.get("size") for name, one in files.items() if isinstance(one, dict)}
    return json.dumps(shown, ensure_ascii=False, indent=2, sort_keys=True)


def notes_of(bundle: BundleInfo) -> tuple[str, ...]:
    """The notes that the job recorded while building the bundle."""
    training = read_manifest(bundle).get("training")
    notes = training.get("notes") if isinstance(training, dict) else None
    return tuple(str(one) for one in notes) if isinstance(notes, list) else ()


def read_manifest(bundle: BundleInfo) -> dict[str, Any]:
    """The manifest; {} if it is unreadable."""
    try:
        raw = json.loads(read_small(Path(bundle.path) / MANIFEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return raw if isinstance(raw, dict) else {}


def size_words(size: int) -> str:
    """`12.3 MB`, in powers of a thousand, as on desktops."""
    value = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return tr("{n:,} bytes", n=size) if unit == "bytes" else f"{localised(value, ',.1f')} {unit}"
        value /= 1000
    raise AssertionError("the last unit always returns")
