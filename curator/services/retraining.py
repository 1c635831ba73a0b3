"""Recipes, training, promotion, rollback and index builds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from curator.domain.bundles import BundleInfo
from curator.domain.changes import Change
from curator.domain.jobs import JobOutcome, Progress
from curator.services.ports import JobHandle

OnProgress = Callable[[Progress], None]
OnEnd = Callable[[JobOutcome], None]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a recipe, as the dialog shows it. `kind` is int, float, bool or choice."""

    name: str
    title: str
    help: str
    kind: str
    default: Any
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """A named, complete training configuration, read from `resources/recipes`."""

    id: str
    title: str
    description: str
    parameters: tuple[Parameter, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TrainingPreview:
    """What a training run would learn from, and an estimate of its minutes; `basis` says where that comes from.

    `problem` is '' or the sentence that says why it cannot start.
    """

    documents: int
    links: int
    nils: int
    entities: int
    validation_documents: int
    validation_decisions: int
    minutes: float
    basis: str
    problem: str = ""


class RetrainingService:
    def recipes(self) -> list[Recipe]:
        raise NotImplementedError

    def preview(self, recipe: str, params: Mapping[str, Any] | None = None) -> TrainingPreview:
        raise NotImplementedError

    def start(
        self,
        recipe: str,
        params: Mapping[str, Any] | None = None,
        *,
        seed: int = 0,
        device: str = "auto",
        max_minutes: float | None = None,
        on_progress: OnProgress,
        on_end: OnEnd,
    ) -> JobHandle:
        """Train in a child process. The outcome's result holds `bundle` (id), `verdict`, `message`, `active`."""
        raise NotImplementedError

    def bundles(self) -> list[BundleInfo]:
        """Oldest first."""
        raise NotImplementedError

    def promote(self, bundle_id: str) -> Change:
        raise NotImplementedError

    def rollback(self) -> Change:
        """Back to the bundle that was active before. Raises UserError where there is none."""
        raise NotImplementedError

    def build_index(self, *, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Build the untrained bundles, first lexical, then full; each serves as soon as it is ready."""
        raise NotImplementedError

    def needs_index(self) -> bool:
        """Whether no bundle serves the current knowledge base fully."""
        raise NotImplementedError
