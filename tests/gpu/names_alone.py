"""The stage over names by itself: the nearest of all names by cosine, the mention as written, nothing remembered.

Strings as in `tests/benchmarks/experiments/NAMES.md`: no abbreviation is written out, only names of the mention's types
are compared, mentions whose entity the knowledge base lacks are left out, and an entity counts as found where the
nearest name is its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.core.kb import KnowledgeBase
from models.encoders.encoders import Encoder
from models.vectors.index import VectorIndex
from tests.gpu.material import Line, Material

NAME, OTHER, NCBI, NEW, ASIDE = "BC5CDR, is a name", "BC5CDR, no name", "NCBI, all", "NCBI, new to train", "set aside"
Key = tuple[str, tuple[str, ...]]
SLICES = (NAME, OTHER, NCBI, NEW, ASIDE)
"""The last is of train documents of BC5CDR: strings that are no name and that no document that teaches has."""


@dataclass(frozen=True)
class Strings:
    """Mentions as written, with their types, the rows of their entities and the number of their document."""

    texts: tuple[str, ...]
    types: tuple[tuple[str, ...], ...]
    gold: tuple[frozenset[int], ...]
    document: tuple[int, ...]

    @property
    def keys(self) -> list[Key]:
        return list(zip(self.texts, self.types, strict=True))


@dataclass(frozen=True)
class Asked:
    """What is looked up, by slice."""

    slices: dict[str, Strings]

    @classmethod
    def of(cls, material: Material) -> Asked:
        """Every choice is made on ASIDE; the others are development sets."""
        kb = material.kb
        names = {name.casefold() for name in kb.names}
        world = material.world
        taught, known = _texts(world.train), _texts(material.lines("ncbi_disease", "train"))
        bc5cdr, ncbi = strings(world.judged, kb), strings(material.lines("ncbi_disease", "dev"), kb)
        aside = strings(world.held_out, kb)
        return cls(
            {
                NAME: _where(bc5cdr, [text.casefold() in names for text in bc5cdr.texts]),
                OTHER: _where(bc5cdr, [text.casefold() not in names for text in bc5cdr.texts]),
                NCBI: ncbi,
                NEW: _where(ncbi, [text.casefold() not in known for text in ncbi.texts]),
                ASIDE: _where(aside, [text.casefold() not in names | taught for text in aside.texts]),
            }
        )


def nearest(encoder: Encoder, kb: KnowledgeBase, asked: Sequence[Key]) -> dict[Key, int]:
    """Of each distinct text with its types the entity row of the nearest name; all names are encoded, and searched on
    the encoder's device."""
    index = VectorIndex.build(encoder.encode(list(kb.names)))
    index.to_gpu(wanted=encoder.device.torch.type == "cuda")
    found: dict[Key, int] = {}
    for types in dict.fromkeys(types for _, types in asked):
        own = list(dict.fromkeys(key for key in asked if key[1] == types))
        places = index.search(encoder.encode([text for text, _ in own]), 1, ranges=kb.name_ranges(types))[1][:, 0]
        found |= dict(zip(own, np.where(places < 0, -1, kb.name_entity[places]).tolist(), strict=True))
    return found


def figures(encoder: Encoder, kb: KnowledgeBase, asked: Asked) -> dict[str, Any]:
    """By slice: how many strings, the share that is right, and for intervals which are (`hits`) and how many strings
    each document has (`sizes`)."""
    found = nearest(encoder, kb, [key for one in asked.slices.values() for key in one.keys])
    result: dict[str, Any] = {}
    for name, one in asked.slices.items():
        hits = [int(found[key] in gold) for key, gold in zip(one.keys, one.gold, strict=True)]
        share = round(sum(hits) / len(hits), 4) if hits else None
        sizes = np.bincount(one.document).tolist() if one.document else []
        result[name] = {"n": len(hits), "right": share, "hits": "".join(map(str, hits)), "sizes": sizes}
    return result


def strings(lines: Sequence[Line], kb: KnowledgeBase) -> Strings:
    """Of the mentions whose entity the knowledge base has."""
    found = [
        (_text(line, mention), tuple(mention["types"]), mention["gold"]["ids"], number)
        for number, line in enumerate(lines)
        for mention in line["mentions"]
        if mention["gold"]["ids"]
    ]
    texts, types, ids, numbers = (tuple(own) for own in zip(*found, strict=True)) if found else ((), (), (), ())
    return Strings(texts, types, tuple(frozenset(kb.rows[name] for name in own) for own in ids), numbers)


def _where(strings: Strings, chosen: Sequence[bool]) -> Strings:
    places = [place for place, yes in enumerate(chosen) if yes]
    return Strings(
        tuple(strings.texts[place] for place in places),
        tuple(strings.types[place] for place in places),
        tuple(strings.gold[place] for place in places),
        tuple(strings.document[place] for place in places),
    )


def _texts(lines: Sequence[Line]) -> set[str]:
    """The strings of all mentions, without case."""
    return {_text(line, mention).casefold() for line in lines for mention in line["mentions"]}


def _text(line: Line, mention: Line) -> str:
    start, stop = mention["spans"][0]
    return str(line["text"][start:stop])
