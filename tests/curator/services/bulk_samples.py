"""A project with one long document whose mentions are all suggested, most of them very surely."""

from __future__ import annotations

import numpy as np
from scipy.stats import hypergeom

from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.services.core.keys import set_active_bundle
from tests.curator.services.fakes import World, finish

SURE = 600
UNSURE = 40
WORD = "Lidocaine"


def long_world(world: World, *, documents: int = 2) -> list[int]:
    """`SURE` mentions with probability 0.999 and `UNSURE` with 0.6 over some documents; returns their ids."""
    world.kb()
    each = (SURE + UNSURE) // documents
    records = []
    for number in range(1, documents + 1):
        lines = [f"{number}|t|{WORD}", f"{number}|a|{' '.join([WORD] * (each - 1))}"]
        starts = [at * (len(WORD) + 1) for at in range(each)]
        lines += [f"{number}\t{at}\t{at + len(WORD)}\t{WORD}\tChemical\tD008012" for at in starts]
        records.append("\n".join(lines) + "\n\n")
    finish(world.project.importing.documents([world.write("".join(records))]))
    ids = [one for number in range(1, documents + 1) for one in world.mentions(number)]
    suggest(world, ids)
    return ids


def suggest(world: World, ids: list[int], *, bundle: str = "b", entity: str = "MESH:D008012") -> None:
    def made(at: int, mention_id: int) -> Suggestion:
        chance = 0.999 if at < SURE else 0.6
        found = (Candidate(entity, WORD, ("Chemical",), WORD, 0.5, probability=chance),)
        return Suggestion(mention_id, found, NilEstimate(0.001, False, True), Stamp(bundle, 0))

    with world.store.write() as unit:
        set_active_bundle(unit.meta, bundle, [bundle])
        unit.suggestions.save([made(at, one) for at, one in enumerate(ids)])


def unseen_too_bad(total: int, checked: int, allowed: int, error: float) -> float:
    """The largest P(at most `allowed` wrong in the sample, and more than `error` of the others wrong), over all numbers
    of wrong ones in the set."""
    bad = np.arange(total + 1)[:, None]
    found = np.arange(allowed + 1)
    too_many = bad - found > error * (total - checked) + 1e-9
    return float((hypergeom.pmf(found, total, bad, checked) * too_many).sum(axis=1).max())
