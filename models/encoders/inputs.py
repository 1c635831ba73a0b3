"""The networks' input: a mention in its context and an entity, as token ids. Shared with training.

Mention (PEL appendix A, BLINK):      [CLS] left [M_s] mention [M_e] right [SEP]
Entity, TITLE_DESCRIPTION (ZESHEL):   [CLS] title [ENT] description [SEP]
Entity, TITLE_TYPES (PEL, MedMentions): [CLS] title [SEP] types [SEP] description [SEP]
Entity, TYPES_SYNONYMS (prototype triplet): [CLS] types [SEP] synonym 1 [SEP] synonym 2 … [SEP]
Pair (PEL appendix B):                mention input, then the entity's without its [CLS]

MEAN_OF_NAMES is not a text: an entity's vector is the mean of its names' vectors, which every linker has.

The special tokens [M_s], [M_e] and [ENT] use unused entries of the tokenizer's vocabulary, so no embedding is added. An
entity without a definition is described by its synonyms (our choice).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from models.errors import ModelError, say
from models.types import DocumentInput, EntityRecord, MentionInput

CHARACTERS_PER_TOKEN = 12
_MARKERS = (
    ("[M_s]", "[START]", "[unused1]", "[unused0]", "["),
    ("[M_e]", "[END]", "[unused2]", "]"),
    ("[ENT]", "[unused3]", "|"),
)


class EntityStyle(StrEnum):
    """How an entity is written as text for its encoder."""

    TITLE_DESCRIPTION = "title-description"
    TITLE_TYPES = "title-types-description"
    TYPES_SYNONYMS = "types-synonyms"
    MEAN_OF_NAMES = "mean-of-names"


@dataclass(frozen=True, slots=True)
class InputSettings:
    """Token budgets, including special tokens, and the style of entity texts."""

    mention_tokens: int = 64
    entity_tokens: int = 64
    style: EntityStyle = EntityStyle.TITLE_TYPES


@dataclass(frozen=True, slots=True)
class Markers:
    """Token ids of the special tokens."""

    cls: int
    sep: int
    start: int
    end: int
    entity: int


@dataclass(frozen=True, slots=True)
class MentionTokens:
    """A mention in context; ``start`` and ``end`` are the positions of the two markers in ``ids``."""

    ids: tuple[int, ...]
    start: int
    end: int


@lru_cache(maxsize=8)
def markers(tokenizer: Any) -> Markers:
    """The special tokens of this tokenizer; raises ModelError if it has no unused entries."""
    found = [_first_known(tokenizer, names) for names in _MARKERS]
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    if cls is None or sep is None or None in found:
        raise ModelError(say("This encoder's tokenizer has no [CLS], [SEP] or unused tokens. Choose a BERT encoder."))
    start, end, entity = (int(token) for token in found if token is not None)
    return Markers(int(cls), int(sep), start, end, entity)


def mention_tokens(
    tokenizer: Any, document: DocumentInput, mention: MentionInput, *, settings: InputSettings
) -> MentionTokens:
    """The mention between markers with as much context on both sides as fits in the budget.

    A long mention keeps its beginning; budget unused on one side goes to the other.
    """
    marks = markers(tokenizer)
    left_text, surface, right_text = _window(document.text, mention, settings.mention_tokens)
    left, middle, right = _ids(tokenizer, [left_text, surface, right_text])
    middle = middle[: settings.mention_tokens - 4]
    room = settings.mention_tokens - 4 - len(middle)
    left_size = min(len(left), max(room // 2, room - len(right)))
    left = left[len(left) - left_size :]
    right = right[: room - left_size]
    ids = (marks.cls, *left, marks.start, *middle, marks.end, *right, marks.sep)
    return MentionTokens(ids, 1 + len(left), 2 + len(left) + len(middle))


def entity_tokens(tokenizer: Any, record: EntityRecord, *, settings: InputSettings) -> tuple[int, ...]:
    """The entity in the chosen style, truncated to the budget, with [SEP]. Raises ValueError for MEAN_OF_NAMES, which
    is not a text."""
    if settings.style is EntityStyle.MEAN_OF_NAMES:
        raise ValueError("an entity that is the mean of its names is not written out")
    marks = markers(tokenizer)
    if settings.style is EntityStyle.TYPES_SYNONYMS:
        parts, separators = [", ".join(record.types), *record.names], [marks.sep] * len(record.names)
    elif settings.style is EntityStyle.TITLE_TYPES:
        parts, separators = [record.name, ", ".join(record.types), _description(record)], [marks.sep] * 2
    else:
        parts, separators = [record.name, _description(record)], [marks.entity]
    pieces = _ids(tokenizer, [part[: settings.entity_tokens * CHARACTERS_PER_TOKEN] for part in parts])
    body = list(pieces[0])
    for separator, piece in zip(separators, pieces[1:], strict=True):
        body += [separator, *piece]
    return (marks.cls, *body[: settings.entity_tokens - 2], marks.sep)


def pair_tokens(mention: Sequence[int], entity: Sequence[int]) -> tuple[int, ...]:
    """Mention and entity concatenated for a cross-encoder, from the results of the functions above.

    PEL appendix B concatenates the two inputs; the second [CLS] is left out, as by Logeswaran et al. (2019), whom it
    follows. Both have the same segment id, as in BLINK: our initial encoders were trained with the first only.
    """
    return (*mention, *entity[1:])


def _description(record: EntityRecord) -> str:
    return record.definition or "; ".join(record.names[1:])


def _window(text: str, mention: MentionInput, tokens: int) -> tuple[str, str, str]:
    """Left context, surface and right context, no longer than can be used."""
    start, end = mention.spans[0][0], max(stop for _, stop in mention.spans)
    reach = tokens * CHARACTERS_PER_TOKEN
    surface = mention.surface(text)[:reach]
    return text[max(0, start - reach) : start], surface, text[end : end + reach]


def _ids(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    encoded = tokenizer(
        [text.encode("utf-8", "replace").decode() for text in texts],  # half a surrogate pair becomes one "?"
        add_special_tokens=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    return [list(ids) for ids in encoded.input_ids]


def _first_known(tokenizer: Any, names: Sequence[str]) -> int | None:
    for name in names:
        token = tokenizer.convert_tokens_to_ids(name)
        if token is not None and token != tokenizer.unk_token_id:
            return int(token)
    return None
