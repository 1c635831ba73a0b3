"""Which kind of FAISS index suits a number of vectors on this machine, with the reason as a sentence."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from enum import StrEnum

from models.errors import ModelError, say

FLAT_BYTES = 600 * 2**20
UNKNOWN_MEMORY = 8 * 2**30
AUTO = "auto"


class IndexKind(StrEnum):
    FLAT = "flat"
    SQ8 = "sq8"
    PQ4 = "pq4"


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """A kind of index, FAISS's factory string for it, and the reason.

    ``probes`` is the number of vectors that a search in two stages compares again (0: the default), ``recall`` the
    share of the exact nearest 64 found with it when the index was built (0: not measured).
    """

    kind: IndexKind
    factory: str
    sentence: str
    probes: int = 0
    recall: float = 0.0


def plan_index(
    rows: int,
    dimension: int,
    *,
    kind: IndexKind | None = None,
    reason: str | None = None,
    memory: int | None = None,
    gpu_memory: int = 0,
) -> IndexPlan:
    """Choose the kind of index for ``rows`` vectors of float32; ``kind`` overrides, for a ``reason`` (None: the user's
    choice).

    ``memory`` is the index's memory limit in bytes (None: an eighth of the machine's), ``gpu_memory`` the GPU's memory
    (0: FAISS has no GPU). Exact search is used if vectors fit and one query takes less than a tenth of a second: up to
    600 MiB, or half of the GPU's memory. Larger indexes are searched in two stages: 4-bit codes of all vectors, then
    8-bit codes of the best, which find 99 % of the nearest names in a tenth of the time of 8-bit codes alone; these are
    only used on request. Two stages read enough to find 99 % of the results of exact search (`VectorIndex.build`).
    """
    limit = memory_share() if memory is None else memory
    chosen, why = _choose(rows, dimension, limit, gpu_memory) if kind is None else (kind, say("as set by the user"))
    factory, means = {
        IndexKind.FLAT: ("Flat", say("exact")),
        IndexKind.SQ8: ("SQ8", say("8-bit codes, all compared")),
        IndexKind.PQ4: (
            f"PQ{pattern_count(dimension)}x4fs,Refine(SQ8)",
            say("4-bit codes, all compared, then 8-bit codes of the best"),
        ),
    }[chosen]
    words = say(
        "{rows:,} vectors are searched with {kind} ({means}), {reason}.",
        rows=rows,
        kind=chosen.value,
        means=means,
        reason=reason or why,
    )
    return IndexPlan(chosen, factory, words)


def parse_kind(name: str) -> IndexKind | None:
    """The kind named by a setting; None for "auto" and for an empty setting. Raises ModelError that lists the kinds."""
    if name in ("", AUTO):
        return None
    try:
        return IndexKind(name)
    except ValueError as error:
        kinds = ", ".join(kind.value for kind in IndexKind)
        raise ModelError(
            say("Unknown kind of index {name!r}. Choose one of: {auto}, {kinds}.", name=name, auto=AUTO, kinds=kinds)
        ) from error


def memory_share() -> int:
    """An eighth of the machine's memory, in bytes; assumes 8 GiB if the system does not report it."""
    if sys.platform == "win32" or not {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= os.sysconf_names.keys():
        return UNKNOWN_MEMORY // 8
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8


def pattern_count(dimension: int) -> int:
    """Into how many parts a vector is divided for 4-bit codes: of six numbers each, or of more where six do not fit."""
    return next(parts for parts in range(max(1, dimension // 6), 0, -1) if dimension % parts == 0)


def _choose(rows: int, dimension: int, limit: int, gpu_memory: int) -> tuple[IndexKind, str]:
    size = rows * dimension * 4
    if gpu_memory and size <= gpu_memory // 2:
        return IndexKind.FLAT, say(
            "since {size} of vectors fit into half of the GPU's {limit}", size=_mib(size), limit=_mib(gpu_memory)
        )
    if size <= min(FLAT_BYTES, limit):
        return IndexKind.FLAT, say(
            "since {size} of vectors fit into {limit}", size=_mib(size), limit=_mib(min(FLAT_BYTES, limit))
        )
    return IndexKind.PQ4, say("since {size} of vectors are too many for exact search", size=_mib(size))


def _mib(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"
