"""The stage over names by itself: the nearest of all names by cosine, the mention as written, nothing remembered.

Strings as in `tests/benchmarks/experiments/NAMES.md`: no abbreviation is written out, no type restricts, mentions whose
entity the knowledge base lacks are left out, and an entity counts as found where the nearest name is its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.core import KnowledgeBase
from models.encoders import Encoder
from models.vectors import VectorIndex
from tests.gpu.material import Line, Material

NAME, OTHER, NCBI, NEW, ASIDE = "BC5CDR, is a name", "BC5CDR, no name", "NCBI, all", "NCBI, new to train", "set aside"
SLICES = (NAME, OTHER, NCBI, NEW, ASIDE)
"""The last is of train documents of BC5CDR: strings that are no name and that no document that teaches has."""


@dataclass(frozen=True)
class Strings:
    """Mentions as written, with the rows of their entities and the number of their document."""

    texts: tuple[str, ...]
    gold: tuple[frozenset[int], ...]
    document: tuple[int, ...]


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
        bc5cdr, ncbi = _strings(world.judged, kb), _strings(material.lines("ncbi_disease", "dev"), kb)
        aside = _strings(world.held_out, kb)
        return cls(
            {
                NAME: _where(bc5cdr, [text.casefold() in names for text in bc5cdr.texts]),
                OTHER: _where(bc5cdr, [text.casefold() not in names for text in bc5cdr.texts]),
                NCBI: ncbi,
                NEW: _where(ncbi, [text.casefold() not in known for text in ncbi.texts]),
                ASIDE: _where(aside, [text.casefold() not in names | taught for text in aside.texts]),
            }
        )


def nearest(encoder: Encoder, kb: KnowledgeBase, texts: Sequence[str]) -> np.ndarray:
    """(texts,) entity rows of the nearest names; the names are encoded, and searched on the encoder's device."""
    index = VectorIndex.build(encoder.encode(list(kb.names)))
    index.to_gpu(wanted=encoder.device.torch.type == "cuda")
    found = index.search(encoder.encode(texts), 1)[1][:, 0]
    rows: np.ndarray = kb.name_entity[found]
    return rows


def figures(encoder: Encoder, kb: KnowledgeBase, asked: Asked) -> dict[str, Any]:
    """By slice: how many strings, the share that is right, and for intervals which are (`hits`) and how many strings
    each document has (`sizes`)."""
    texts = list(dict.fromkeys(text for one in asked.slices.values() for text in one.texts))
    found = dict(zip(texts, nearest(encoder, kb, texts).tolist(), strict=True))
    result: dict[str, Any] = {}
    for name, one in asked.slices.items():
        hits = [int(found[text] in gold) for text, gold in zip(one.texts, one.gold, strict=True)]
        share = round(sum(hits) / len(hits), 4) if hits else None
        sizes = np.bincount(one.document).tolist() if one.document else []
        result[name] = {"n": len(hits), "right": share, "hits": "".join(map(str, hits)), "sizes": sizes}
    return result


def _strings(lines: Sequence[Line], kb: KnowledgeBase) -> Strings:
    found = [
        (line["text"][mention["spans"][0][0] : mention["spans"][0][1]], mention["gold"]["ids"], number)
        for number, line in enumerate(lines)
        for mention in line["mentions"]
        if mention["gold"]["ids"]
    ]
    gold = tuple(frozenset(kb.rows[name] for name in ids) for _, ids, _ in found)
    return Strings(tuple(text for text, _, _ in found), gold, tuple(number for _, _, number in found))


def _where(strings: Strings, chosen: Sequence[bool]) -> Strings:
    places = [place for place, yes in enumerate(chosen) if yes]
    return Strings(
        tuple(strings.texts[place] for place in places),
        tuple(strings.gold[place] for place in places),
        tuple(strings.document[place] for place in places),
    )


def _texts(lines: Sequence[Line]) -> set[str]:
    """The strings of all mentions, without case."""
    return {
        line["text"][mention["spans"][0][0] : mention["spans"][0][1]].casefold()
        for line in lines
        for mention in line["mentions"]
    }
