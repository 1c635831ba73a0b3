"""Evaluation of a bundle on the gold of one split, in a child process."""

from __future__ import annotations

from curator.domain.documents import Split
from curator.services.ports import JobHandle
from curator.services.retraining import OnEnd, OnProgress


class EvaluationService:
    def start(self, split: Split, *, bundle_id: str | None = None, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """The outcome's result holds the figures: recall (by k), nil, mentions, in_kb, nil_mentions, slices, …"""
        raise NotImplementedError
