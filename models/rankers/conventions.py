"""Conventions of a corpus for ambiguous names: how close a candidate is, in the hierarchy, to earlier decisions.

Two corpora may link *akathisia* to the disease or to *Akathisia, Drug-Induced*. Decisions for this string or a similar
one, and the likely entities of the document's other mentions, also support broader and narrower entities. The depth of
entities in the hierarchy is a convention of a corpus too, and so is what pages link to: seldom to themselves, often to
entities whose definition names their subject. These are features of the combiner, fitted on decisions.

On train documents of BC5CDR that it was not fitted on, recall@1 with the memory rose by 0.4 points (0.1 to 0.7), of
NCBI Disease by 0.3 (-0.1 to 0.7); on the development documents by 0.1 (-0.1 to 0.4) and -0.1 (-1.5 to 1.2). Also tried
on train, and left out because they gained nothing: siblings, whether an entity is a leaf, the vocabulary of an id, and
which of two entities with one name was decided more often.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.core.hierarchy import Hierarchy

FLOATS = NDArray[np.float32]
RELATIONS = ("own_page", "names_subject", "names_others")
CONVENTIONS = (
    "string_broader",
    "string_narrower",
    "document_broader",
    "document_narrower",
    "depth",
    *RELATIONS,
)
"""Whether the candidate is broader or narrower than entities decided for the string, or than likely entities of another
mention of the document, in [0, 1]; its depth in tenths of steps below the top; and the relations of ``Elsewhere``."""
STEPS = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Elsewhere:
    """(c,) each, in [0, 1]: the highest probability, at a mention of the document with another wording, of the
    candidate itself, of an entity it is broader than, and of an entity it is narrower than. ``relations`` gives those
    of ``RELATIONS``, (3, n), for n rows: whether the document is the candidate's own page, whether its definition names
    the document's subject, and the logarithm of 1 plus the number of the document's other entities that it names."""

    same: FLOATS
    broader: FLOATS
    narrower: FLOATS
    relations: Callable[[NDArray[np.int64]], FLOATS] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Conventions:
    """For one mention: ``rows`` (c,) of the candidates, and ``decided``: the memory's scores for the string, by row."""

    hierarchy: Hierarchy
    rows: NDArray[np.int64]
    decided: Mapping[int, float]
    elsewhere: Elsewhere | None

    def columns(self, head: NDArray[np.intp]) -> dict[str, NDArray[np.floating]]:
        """(h,) for each of ``CONVENTIONS``."""
        rows, beside = self.rows[head].tolist(), self.elsewhere
        nowhere = np.zeros(len(rows))
        relations = None if beside is None else beside.relations
        related = np.zeros((len(RELATIONS), len(rows))) if relations is None else relations(self.rows[head])
        return {
            "string_broader": np.asarray([self._decided_below(row) for row in rows]) if self.decided else nowhere,
            "string_narrower": np.asarray([self._decided_above(row) for row in rows]) if self.decided else nowhere,
            "document_broader": nowhere if beside is None else beside.broader[head],
            "document_narrower": nowhere if beside is None else beside.narrower[head],
            "depth": np.asarray([self.hierarchy.depth(row) for row in rows]) / STEPS,
            **dict(zip(RELATIONS, related, strict=True)),
        }

    def _decided_below(self, row: int) -> float:
        return max((score for one, score in self.decided.items() if row in self.hierarchy.above(one)), default=0.0)

    def _decided_above(self, row: int) -> float:
        above = self.hierarchy.above(row)
        return max((score for one, score in self.decided.items() if one in above), default=0.0)
