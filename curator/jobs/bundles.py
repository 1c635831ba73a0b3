"""The `bundles/` folder of a project, read without loading any model."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from curator.domain.jobs import BundleInfo, GateVerdict
from curator.domain.wording import UserError, tr

MANIFEST = "manifest.json"
STAGING_PREFIX = ".staging-"


class FolderBundleStore:
    """Implements `BundleStore`. A staging folder is complete when it holds a manifest, which is written last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self, *, active: str | None) -> list[BundleInfo]:
        """Published bundles, oldest first; a folder without a readable manifest is left out."""
        if not self._folder.is_dir():
            return []
        found = [
            info
            for path in self._folder.iterdir()
            if path.is_dir() and not path.name.startswith(".") and (info := _read(path, active)) is not None
        ]
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
        """Raises UserError when the staging folder is incomplete or the rename fails."""
        manifest = _manifest(staging)
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
            shutil.rmtree(staging, ignore_errors=True)

    def clean(self) -> int:
        """Only the holder of the project's write lock calls this, when no job of its own runs."""
        left = list(self._folder.glob(f"{STAGING_PREFIX}*")) if self._folder.is_dir() else []
        for staging in left:
            shutil.rmtree(staging, ignore_errors=True)
        return len(left)

    def path(self, bundle_id: str) -> Path:
        """Raises UserError when there is no such bundle."""
        path = self._folder / bundle_id
        if bundle_id in ("", ".", "..") or Path(bundle_id).name != bundle_id or _manifest(path) is None:
            raise UserError(
                tr(
                    "Linker {bundle_id!r} was not found in {folder}. `curator linkers` lists all linkers.",
                    bundle_id=bundle_id,
                    folder=self._folder,
                )
            )
        return path


def _manifest(path: Path) -> dict[str, Any] | None:
    try:
        raw = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return raw if isinstance(raw, dict) and "id" in raw else None


def _complete(staging: Path, manifest: Mapping[str, Any]) -> bool:
    return all(
        (staging / name).is_file() and (staging / name).stat().st_size == info["size"]
        for name, info in manifest.get("files", {}).items()
    )


def _read(path: Path, active: str | None) -> BundleInfo | None:
    manifest = _manifest(path)
    return None if manifest is None else _info(path, manifest, active=active)


def _info(path: Path, manifest: Mapping[str, Any], *, active: str | None) -> BundleInfo:
    gate = manifest.get("training", {}).get("gate", {})
    stages = [str(spec["name"]) for spec in manifest.get("retrievers", [])]
    if manifest.get("ranker"):
        stages.append("ranker")
    kind = str(manifest.get("kind", "untrained"))
    return BundleInfo(
        id=path.name,
        recipe="untrained-lexical" if kind == "untrained" and stages == ["lexical"] else kind,
        created_at=_time(str(manifest.get("created", ""))),
        path=str(path),
        active=path.name == active,
        verdict=GateVerdict(gate.get("verdict", GateVerdict.NOT_GATED)),
        summary=str(gate.get("message", "")),
        stages=tuple(stages),
        kb_hash=str(manifest.get("kb_hash", "")),
        calibrated=bool(manifest.get("nil", {}).get("calibrated", False)),
        metrics=dict(manifest.get("metrics", {})),
        parent=str(manifest.get("parent") or ""),
    )


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
