"""Mentions and their entities before and after training, laid out in two dimensions by multidimensional scaling.

The prototype-triplet paper (2023, §5.2, fig. 4) uses such a plot to show whether mentions move closer to their entity.
Here one layout holds both states of every point, so that the movement from before to after is meaningful: the towers
start from the same weights and share one space. Scaling preserves distances as well as is possible in two dimensions.
`stress` measures the fit (0: exact; above 0.2: poor, by Kruskal's rule of thumb); `nearest_before` and `nearest_after`
are measured in the full space.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase
from models.encoders.encoders import normalized
from models.errors import ModelError, say
from training.data.examples import Example
from training.data.snapshot import SnapshotDocument
from training.loop.towers import FloatArray, Towers
from training.tasks.mining_search import means
from training.tasks.vectors import at_rest, mention_vectors, pool_vectors

MAP_FILE = "map.json"
"""Name of the map's file in its bundle."""
LIMIT = 200
"""The most points, mentions and entities together. Twice as many are laid out (before and after), which takes about a
second."""
GROUPS = 20
Place = tuple[float, float]


class PointKind(StrEnum):
    MENTION = "mention"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class MapPoint:
    """`key` is the mention's key or the entity's id, `group` the id of the entity that both belong to, `document` the
    key of the mention's document, empty for an entity."""

    key: str
    label: str
    kind: PointKind
    group: str
    before: Place
    after: Place
    document: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddingMap:
    """Entities first, then mentions. `stress` is Kruskal's stress-1 of the layout; `nearest_before` and `nearest_after`
    are the share of mentions that are nearer to their own entity than to any other on the map, in the full space."""

    points: tuple[MapPoint, ...]
    stress: float
    nearest_before: float
    nearest_after: float

    def to_json(self) -> dict[str, Any]:
        """{"points": [{"key", "label", "kind", "group", "before": [x, y], "after": [x, y], "document"}], "stress",
        "nearest_before", "nearest_after"}."""
        points = [asdict(point) | {"before": list(point.before), "after": list(point.after)} for point in self.points]
        return asdict(self) | {"points": points}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> EmbeddingMap:
        """Inverse of `to_json`. Raises ModelError if `raw` is invalid."""
        try:
            points = tuple(_point(one) for one in raw["points"])
            return cls(points, *(float(raw[name]) for name in ("stress", "nearest_before", "nearest_after")))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                say("This is not an embedding map ({error}). Train again to create one.", error=error)
            ) from error


@dataclass(frozen=True, slots=True)
class Selection:
    """The contents of the map: `numbers` of examples, and for each group the row of its entity; `group_of` gives each
    mention's group."""

    numbers: tuple[int, ...]
    rows: tuple[int, ...]
    group_of: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """The selection's vectors for one state of the towers: `mentions` [m, d] and `entities` [g, d]."""

    mentions: FloatArray
    entities: FloatArray


def select_points(examples: Sequence[Example], *, seed: int, limit: int = LIMIT, groups: int = GROUPS) -> Selection:
    """Up to `groups` random entities, preferring entities with several mentions, and an even share of their mentions.

    NIL and composite mentions are left out: they have no single entity to be near to.
    """
    random = np.random.default_rng(seed)
    members: dict[int, list[int]] = {}
    for number in random.permutation(len(examples)).tolist():
        if len(examples[number].gold) == 1:
            members.setdefault(examples[number].gold[0], []).append(number)
    order = sorted(members, key=lambda row: len(members[row]) < 2)[: min(groups, limit // 2)]
    each = limit // max(1, len(order)) - 1
    chosen = [(group, number) for group, row in enumerate(order) for number in members[row][:each]]
    return Selection(tuple(number for _, number in chosen), tuple(order), tuple(group for group, _ in chosen))


def seen_by(towers: Towers, examples: Sequence[Example], selection: Selection, *, tokens: bool = False) -> Vectors:
    """The selection's vectors from the current `towers`; with `tokens` (SOM), the means of the token states, scaled to
    length 1."""
    chosen = [examples[number] for number in selection.numbers]
    if not chosen:
        nothing = np.zeros((0, towers.mention.hidden_size), dtype=np.float32)
        return Vectors(nothing, nothing)
    if not tokens:
        return Vectors(mention_vectors(towers, chosen), pool_vectors(towers, selection.rows))
    with at_rest(towers.mention, towers.entity):
        rows = np.array(selection.rows, dtype=np.int64)
        return Vectors(means(towers.mention_states(chosen)), means(towers.entity_states(rows)))


def make_map(
    selection: Selection,
    examples: Sequence[Example],
    kb: KnowledgeBase,
    *,
    documents: Sequence[SnapshotDocument],
    before: Vectors,
    after: Vectors,
    directions: bool,
    seed: int,
) -> EmbeddingMap:
    """The map of the selected points; `documents` are those of the examples, for the mentions' texts.

    `directions`: only the vectors' directions count (cosine, dot product); otherwise plain distances count
    (re-rankers).
    """
    if not selection.numbers:
        return EmbeddingMap((), 0.0, 0.0, 0.0)
    if directions:
        before, after = (Vectors(normalized(state.mentions), normalized(state.entities)) for state in (before, after))
    points = np.concatenate([before.entities, before.mentions, after.entities, after.mentions])
    places, stress = _scale(points, seed=seed)
    halves = np.split(np.round(places, 5), 2)
    made = [
        replace(point, before=(float(old[0]), float(old[1])), after=(float(new[0]), float(new[1])))
        for point, old, new in zip(_points(selection, examples, kb, documents), *halves, strict=True)
    ]
    return EmbeddingMap(tuple(made), stress, _nearest(before, selection), _nearest(after, selection))


def _points(
    selection: Selection, examples: Sequence[Example], kb: KnowledgeBase, documents: Sequence[SnapshotDocument]
) -> Iterator[MapPoint]:
    """Entities, then mentions, without positions."""
    nowhere = (0.0, 0.0)
    known: dict[str, tuple[str, str]] = {}
    for document in documents:
        text = document.to_input()
        known |= {mention.key: (mention.surface(text.text), document.key) for mention in text.mentions}
    for row in selection.rows:
        entity = kb.entities[row]
        yield MapPoint(entity.id, entity.name, PointKind.ENTITY, entity.id, nowhere, nowhere)
    for number, group in zip(selection.numbers, selection.group_of, strict=True):
        key, owner = examples[number].key, kb.entities[selection.rows[group]].id
        surface, document_key = known[key]
        yield MapPoint(key, surface, PointKind.MENTION, owner, nowhere, nowhere, document_key)


def _scale(points: FloatArray, *, seed: int) -> tuple[NDArray[np.float64], float]:
    """Positions [n, 2] of `points` [n, d] and the layout's stress-1, started from classical scaling (Torgerson
    1952)."""
    from scipy.spatial.distance import pdist
    from sklearn.manifold import MDS

    true = pdist(points)
    if not true.any():
        return np.zeros((len(points), 2)), 0.0
    scaling = MDS(n_components=2, n_init=1, init="classical_mds", random_state=seed)
    places: NDArray[np.float64] = scaling.fit_transform(points.astype(np.float64))
    return places, float(np.sqrt(np.square(pdist(places) - true).sum() / np.square(true).sum()))


def _nearest(vectors: Vectors, selection: Selection) -> float:
    """The share of mentions whose own entity is the nearest entity on the map."""
    apart = np.linalg.norm(vectors.mentions[:, None] - vectors.entities[None], axis=2)
    return float(np.mean(apart.argmin(axis=1) == np.array(selection.group_of)))


def _point(raw: Mapping[str, Any]) -> MapPoint:
    before, after = ((float(x), float(y)) for x, y in (raw["before"], raw["after"]))
    return MapPoint(raw["key"], raw["label"], PointKind(raw["kind"]), raw["group"], before, after, raw["document"])
