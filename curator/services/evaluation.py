"""Evaluation of a bundle on the gold of one split, in a child process."""

from __future__ import annotations

from curator.domain.bundles import BundleInfo
from curator.domain.documents import Split
from curator.domain.errors import UserError
from curator.domain.jobs import JobOutcome
from curator.services.chain import JobChain, OnEnd, OnProgress
from curator.services.jobdesk import JobDesk
from curator.services.ports import JobHandle
from curator.services.snapshots import count_gold, write_snapshot

K = 64


class EvaluationService:
    """Gold are the link and NIL decisions of done documents; what they are compared with is linked afresh."""

    def __init__(self, desk: JobDesk) -> None:
        self._desk = desk

    def start(self, split: Split, *, bundle_id: str | None = None, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Evaluate a bundle (None: the one that serves). Nothing in the project changes.

        The outcome's result holds the figures: `recall` by k, `nil`, `mentions`, `in_kb`, `nil_mentions`, `slices`, …
        Raises UserError where the split has no gold or there is no bundle.
        """
        bundle = self._bundle(bundle_id)
        self.require_gold(split)
        folder = self._desk.workplace.new_folder()
        spec = {
            "snapshot": str(folder),
            "bundle": bundle.path,
            "split": split.value,
            "k": K,
            **self._desk.options().spec(),
        }

        def finish(outcome: JobOutcome) -> JobOutcome:
            self._desk.workplace.remove(folder)
            return outcome

        chain = JobChain(
            [
                lambda progress, end: self._desk.jobs.run_here(
                    lambda: write_snapshot(self._desk.store, folder, (split,), kb_hash=bundle.kb_hash, only_done=True),
                    on_progress=progress,
                    on_end=end,
                ),
                lambda progress, end: self._desk.jobs.start("evaluate", spec, on_progress=progress, on_end=end),
            ],
            on_progress=on_progress,
            on_end=on_end,
            finish=finish,
        )
        return chain.start()

    def require_gold(self, split: Split) -> None:
        """Raises UserError where no done document of the split holds a link or NIL decision."""
        if not count_gold(self._desk.store, split, only_done=True).decisions:
            raise UserError(
                f"No document of the split {split.value} is done and holds a link or NIL decision. "
                "Mark reviewed documents as done, or import with gold."
            )

    def _bundle(self, bundle_id: str | None) -> BundleInfo:
        found = [one for one in self._desk.switch.all() if one.id == bundle_id or (bundle_id is None and one.active)]
        if not found:
            what = f"no bundle {bundle_id}" if bundle_id else "no index yet"
            raise UserError(f"There is {what} to evaluate. `curator index` builds one, `curator bundles` lists them.")
        return found[0]
