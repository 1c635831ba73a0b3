"""Evaluation and replay of a bundle on the gold of one split, in a child process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from curator.domain.documents import Split
from curator.domain.jobs import BundleInfo, JobOutcome, JobState
from curator.domain.wording import UserError, tr
from curator.services.ports.files import FileWriter
from curator.services.ports.processes import Cluster, JobHandle
from curator.services.training.job_chain import JobChain, OnEnd, OnProgress
from curator.services.training.snapshots import count_gold, write_snapshot
from curator.services.training.workplace import JobDesk

K = 64
WORLDS = "zeshel"
"""Format of documents whose types are worlds: they are also linked against all worlds."""


@dataclass(frozen=True, slots=True)
class EvaluationWish:
    """`bundle` None is the one in use, `against` None means no comparison. `memory`: the linker remembers the train
    decisions, unless train itself is evaluated. `whole_kb`: the mentions are also linked without types; None means only
    for documents of worlds. `seed` is used for the resamples. With `cluster` the documents are linked by several
    linkers on Ray, with the same answers."""

    split: Split
    bundle: str | None = None
    against: str | None = None
    memory: bool = True
    whole_kb: bool | None = None
    seed: int = 0
    cluster: Cluster | None = None


@dataclass(frozen=True, slots=True)
class ReplayWish:
    """The gold of `split`, then of `then`, at most `limit` decisions; without `memory` nothing is learnt."""

    split: Split
    bundle: str | None = None
    then: Split | None = None
    limit: int | None = None
    memory: bool = True


class EvaluationService:
    """Gold are the link and NIL decisions of done documents; the documents are linked again for the comparison."""

    def __init__(self, desk: JobDesk, *, keep: Callable[[Mapping[str, Any]], str]) -> None:
        """`keep` stores the result of an evaluation and returns its id; it may raise UserError."""
        self._desk = desk
        self._keep = keep

    def start(self, wish: EvaluationWish, *, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Evaluate a bundle. Nothing in the project changes.

        The outcome's result holds the figures: `recall` by k, `nil`, `mentions`, `in_kb`, `nil_mentions`, `slices`,
        `figures` with intervals, `curves`, `against`, …, the `errors`, the report as `html`, and `stored`: the id under
        which it was stored, '' with the reason as `not_stored` if that failed. Raises UserError if the split has no
        gold, there is no such bundle, or the two have different knowledge bases.
        """
        bundle, against = self._bundle(wish.bundle), self._other(wish)
        self.require_gold(wish.split)
        if against is not None and against.kb_hash != bundle.kb_hash:
            raise UserError(
                tr(
                    "The linkers {id} and {id2} were built for different knowledge bases, so their "
                    "answers cannot be compared. Choose two for the same knowledge base; `curator "
                    "linkers` lists them.",
                    id=bundle.id,
                    id2=against.id,
                )
            )
        whole = self._has_worlds(wish.split) if wish.whole_kb is None else wish.whole_kb
        spec: dict[str, Any] = {
            "split": wish.split.value,
            "against": against.path if against else None,
            "memory": wish.memory,
            "whole_kb": whole,
            "seed": wish.seed,
        }
        if wish.cluster is not None:
            spec |= {"cluster": asdict(wish.cluster), "bulk": str(self._desk.workplace.bulk)}
        splits = tuple(dict.fromkeys((wish.split, Split.TRAIN, Split.VALIDATION)))
        return self._run(bundle, spec, splits, done=(wish.split,), on_progress=on_progress, on_end=on_end)

    def replay(self, wish: ReplayWish, *, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Let a simulated curator decide the gold of a split, document by document. Nothing in the project changes.

        The outcome's result holds `replay` (curves) and `html`. Raises UserError like `start`.
        """
        bundle = self._bundle(wish.bundle)
        splits = tuple(dict.fromkeys((wish.split, *([wish.then] if wish.then else []))))
        for split in splits:
            self.require_gold(split)
        spec = {
            "replay": True,
            "split": wish.split.value,
            "then": wish.then.value if wish.then and wish.then is not wish.split else None,
            "limit": wish.limit,
            "memory": wish.memory,
        }
        return self._run(bundle, spec, splits, done=splits, on_progress=on_progress, on_end=on_end)

    def require_gold(self, split: Split) -> None:
        """Raises UserError if no done document of the split has a link or NIL decision."""
        if not count_gold(self._desk.store, split, only_done=True).decisions:
            raise UserError(
                tr(
                    "No document of the split {value} that is done has a link or NIL decision. Mark "
                    "reviewed documents as done, or import with gold.",
                    value=split.value,
                )
            )

    def bundles(self) -> list[BundleInfo]:
        """The bundles that can be evaluated, oldest first."""
        return self._desk.switch.all()

    def _run(
        self,
        bundle: BundleInfo,
        spec: dict[str, Any],
        splits: tuple[Split, ...],
        *,
        done: tuple[Split, ...],
        on_progress: OnProgress,
        on_end: OnEnd,
    ) -> JobHandle:
        """Write a snapshot, then start the child process. In the splits `done`, only done documents count; the other
        splits fill the memory and define what was seen, like the training set."""
        folder = self._desk.workplace.new_folder()
        whole = {"snapshot": str(folder), "bundle": bundle.path, "k": K, **spec, **self._desk.options().spec()}

        def finish(outcome: JobOutcome) -> JobOutcome:
            self._desk.workplace.remove(folder)
            return self._stored(outcome)

        chain = JobChain(
            [
                lambda progress, end: self._desk.jobs.run_here(
                    lambda: write_snapshot(self._desk.store, folder, splits, kb_hash=bundle.kb_hash, only_done=done),
                    on_progress=progress,
                    on_end=end,
                ),
                lambda progress, end: self._desk.jobs.start("evaluate", whole, on_progress=progress, on_end=end),
            ],
            on_progress=on_progress,
            on_end=on_end,
            finish=finish,
            repeats="cluster" not in spec,  # Ray's processes may still be ending
        )
        return chain.start()

    def _stored(self, outcome: JobOutcome) -> JobOutcome:
        if outcome.state is not JobState.DONE or ERRORS not in outcome.result:
            return outcome
        try:
            stored = {"stored": self._keep(outcome.result)}
        except UserError as error:  # the figures are still available
            stored = {"stored": "", "not_stored": str(error)}
        return replace(outcome, result={**outcome.result, **stored})

    def _has_worlds(self, split: Split) -> bool:
        with self._desk.store.read() as unit:
            first = next(iter(unit.documents.ids(split=split)), None)
            if first is None:
                return False
            file = unit.documents.get(first).source_file_id
            return any(one.id == file and one.format == WORLDS for one in unit.files.all())

    def _other(self, wish: EvaluationWish) -> BundleInfo | None:
        return self._bundle(wish.against) if wish.against is not None else None

    def _bundle(self, bundle_id: str | None) -> BundleInfo:
        found = [one for one in self._desk.switch.all() if one.id == bundle_id or (bundle_id is None and one.active)]
        if not found:
            what = tr("no linker {bundle_id}", bundle_id=bundle_id) if bundle_id else tr("no index yet")
            raise UserError(
                tr(
                    "Nothing to evaluate: {what}. `curator index` builds an index, `curator linkers` lists "
                    "the linkers.",
                    what=what,
                )
            )
        return found[0]


# Writing the report of an evaluation: one HTML file, atomically.

HTML, ERRORS = "html", "errors"


def check_place(path: Path) -> None:
    """Raises UserError if no report could be written, before hours of work."""
    if path.is_dir():
        raise UserError(
            tr(
                "{path} is a folder. Give the report a file name, such as {value}.",
                path=path,
                value=path / "report.html",
            )
        )
    if not path.parent.is_dir():
        raise UserError(
            tr(
                "The folder {parent} for the report does not exist. Create it, or choose another folder.",
                parent=path.parent,
            )
        )


def save_report(result: Mapping[str, Any], path: Path, files: FileWriter) -> None:
    """Raises UserError if that fails."""
    check_place(path)
    files.write({path: str(result[HTML]).encode("utf-8", "backslashreplace")})


def without_html(result: Mapping[str, Any]) -> dict[str, Any]:
    """Only the figures, for JSON, with numbers of errors by kind."""
    found = {name: value for name, value in result.items() if name != HTML}
    if isinstance(found.get(ERRORS), Mapping):
        found[ERRORS] = found[ERRORS].get("kinds", {})
    return found
