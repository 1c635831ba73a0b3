"""What bundles take on the disk, and what their manifests say besides the figures."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curator.domain.bundles import BundleInfo

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Bytes. `size` counts every file of the bundle; `own` those that no other bundle shares by a hard link: what
    deleting this one alone would free."""

    size: int
    own: int


@dataclass(frozen=True, slots=True)
class DiskReport:
    """`bundles` by id; `total` counts each shared file once. `trainings` is what interrupted trainings keep to go on
    from."""

    bundles: dict[str, DiskUse]
    total: int
    trainings: int = 0


def disk_use(bundles: Sequence[BundleInfo], *, trainings: Sequence[Path] = ()) -> DiskReport:
    """Looks at every file's size and links, reads none. `trainings`: folders of interrupted ones."""
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
    """(device, inode) and size of each file; what vanishes meanwhile counts nothing."""
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
    """The manifest without the long lists of figures, flips and files, as indented JSON; '' where it is unreadable."""
    raw = read_manifest(bundle)
    if not raw:
        return ""
    shown = {key: value for key, value in raw.items() if key not in ("metrics", "files")}
    shown["files"] = {
        name: one.get("size") for name, one in dict(raw.get("files", {})).items() if isinstance(one, dict)
    }
    return json.dumps(shown, ensure_ascii=False, indent=2, sort_keys=True)


def notes_of(bundle: BundleInfo) -> tuple[str, ...]:
    """The sentences that the job wrote down while it made the bundle."""
    training = read_manifest(bundle).get("training")
    notes = training.get("notes") if isinstance(training, dict) else None
    return tuple(str(one) for one in notes) if isinstance(notes, list) else ()


def read_manifest(bundle: BundleInfo) -> dict[str, Any]:
    """{} where it cannot be read."""
    try:
        raw = json.loads((Path(bundle.path) / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return raw if isinstance(raw, dict) else {}


def size_words(size: int) -> str:
    """`12.3 MB`, in steps of a thousand as desktops show it."""
    value = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:,.0f} {unit}" if unit == "bytes" else f"{value:,.1f} {unit}"
        value /= 1000
    raise AssertionError("the last unit always returns")
