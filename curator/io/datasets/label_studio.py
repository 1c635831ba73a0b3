"""Label Studio's exports of labelled texts, JSON and JSON_MIN.

* **Of each task one annotation is read**: the ground truth, else the first that was not skipped. Those of others,
  predictions and drafts are no gold; the report counts them.
* **A region is a mention**: its labels are the type. Its other answers (choices, taxonomy, text) are attributes, or
  identifiers if the control's name or all its values say so.
* JSON_MIN has one row for each annotation, in which a control's answers are found by the control's name.
* Offsets of text are code points or UTF-16 units, by browser and version; the quoted texts decide (`Anchors`).
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curator.domain.documents import SourceDocument
from curator.domain.relations import SourceEnd, SourceRelation
from curator.domain.wording import tr
from curator.io.datasets.huggingface import HuggingFaceReader
from curator.io.datasets.huggingface_rows import (
    KEYS,
    MIN_FIELDS,
    NO_GOLD_LISTS,
    TASK_LISTS,
    TEXTS,
    Row,
    RowMention,
    attributes_in,
    is_min_row,
    is_task,
    placed_answers,
    relations_in,
)
from curator.io.files.field_meanings import Unread, cancelling, identifier_field, is_empty, unread_fields
from curator.io.files.format import ReadOnly
from curator.io.files.reading import plain_passages
from curator.io.files.source import open_files, plain_text
from curator.services.ports.files import Carries

_TASK = re.compile(
    r"data|task|id|result|drafts|predictions|annotations|completions|meta|file_upload|inner_id|project|overlap|agreement"
    r"|.*_by|.*_at|(?:total|cancelled)_\w+|.*comment\w*|is_labeled|mode|allow_skip|precomputed_agreement"
)
"""Fields of tasks that are read, or only keep books."""
_RESULT = ("id", "type", "value", "from_name", "to_name", "origin", "meta", "parentID", "hidden", "locked", "readonly")
_VALUE = ("start", "end", "text", "startOffset", "endOffset", "globalOffsets")
_ANSWERS = ("choices", "taxonomy", "text", "number", "rating", "datetime")
_CURIE = re.compile(r"[A-Za-z][\w.-]*:\S*\d\S*|https?://\S+|NIL", re.ASCII)
_MOST_LABELS = 20
_STEP = " / "
_DEEPEST = 4
"""Levels of lists and objects in an answer that are read."""


@dataclass
class _Region:
    start: int
    end: int
    quote: str
    kinds: list[str]
    stated: list[str] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)


class LabelStudioReader(HuggingFaceReader):
    """Yields the tasks in their order."""

    format = "label-studio"

    def documents(self) -> Iterator[SourceDocument]:
        self._seen: set[str] = set()
        return super().documents()

    def _parsed(self, value: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> Row | None:  # noqa: ARG002
        if isinstance(value.get("data"), dict) or isinstance(value.get("task"), dict):
            return _task(value)
        if (key := str(value.get("id", ""))) and key in self._seen and "annotation_id" in value:
            left = Unread(annotations=Counter([f"annotations by {_who(value, 'annotator')}"]))
            self._left.add(left)
            return None
        self._seen.add(key)
        return _min_row(value)


class LabelStudioFormat(ReadOnly):
    name = "label-studio"
    title = "Label Studio"
    reader = LabelStudioReader
    carries = Carries(mentions=True, several_ids=True, nil=True, relations=True, attributes=True)

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        text = head.decode("utf-8", "ignore").lstrip()
        if text[:1] not in ("[", "{"):
            return False
        try:
            first, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
        except (ValueError, RecursionError):  # longer than the head, perhaps
            whole = '"annotations"' in text and '"result"' in text and '"from_name"' in text
            return whole or all(f'"{one}"' in text for one in MIN_FIELDS)
        return isinstance(first, dict) and (is_task(first) or is_min_row(first))

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:  # noqa: ARG002 as every format's
        return relations_in(raw)

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        return attributes_in(raw)

    def holds_more(self, raw: str) -> bool:  # noqa: ARG002 as every format's
        """Never: relations and attributes are written to other formats."""
        return False

    def open(self, path: Path) -> LabelStudioReader:
        """Raises UserError for a missing or unsafe source."""
        return LabelStudioReader(open_files(path))


# --- tasks ---


def _task(value: Mapping[str, Any]) -> Row:
    """A task, or an annotation with its task as in a target storage. Raises ValueError without a text."""
    task = value["task"] if isinstance(value.get("task"), dict) else value
    data = task.get("data")
    data = data if isinstance(data, dict) else {}
    listed = (
        [value] if task is not value else next((task[one] for one in TASK_LISTS if isinstance(task.get(one), list)), [])
    )
    left = Unread()
    for name in NO_GOLD_LISTS:
        left.annotations[name] += len(task[name]) if isinstance(task.get(name), list) else 0
    if said := cancelling(task):
        left.rows[said] += 1
        listed = []
    results = _results(listed, left)
    left.row_fields.update(one for one in unread_fields(task, ()) if not _TASK.fullmatch(one))
    meta = data.get("meta")
    return _row(data, results, left, (meta if isinstance(meta, dict) else {}, task))


def _results(listed: Sequence[object], left: Unread) -> list[Mapping[str, Any]]:
    """The results of the annotation to read; the others are counted."""
    usable = []
    for one in listed:
        if isinstance(one, dict) and (said := cancelling(one)):
            left.annotations[f"annotations ({said})"] += 1
        elif isinstance(one, dict):
            usable.append(one)
    usable.sort(key=lambda one: not one.get("ground_truth"))
    for one in usable[1:]:
        left.annotations[f"annotations by {_who(one, 'completed_by')}"] += 1
    results = usable[0].get("result") if usable else []
    return [one for one in results if isinstance(one, dict)] if isinstance(results, list) else []


def _who(one: Mapping[str, Any], name: str) -> str:
    who = one.get(name)
    who = next((who[key] for key in ("email", "username", "id") if who.get(key)), "?") if isinstance(who, dict) else who
    return "?" if who is None else str(who)


def _min_row(value: Mapping[str, Any]) -> Row:
    """Raises ValueError without a text."""
    left = Unread()
    results: list[Mapping[str, Any]] = []
    lists = dict(placed_answers(value))
    for name, some in lists.items():
        for number, one in enumerate(some):
            kind = "labels" if one.get("labels") else next((key for key in _ANSWERS if key in one), "")
            results.append({"id": f"{name} {number}", "from_name": name, "type": kind, "value": one})
    data = {key: one for key, one in value.items() if key not in lists}
    if said := cancelling(data):
        left.rows[said] += 1
        results = []
    return _row(data, results, left)


# --- regions ---


def _row(
    data: Mapping[str, Any],
    results: Sequence[Mapping[str, Any]],
    left: Unread,
    others: Sequence[Mapping[str, Any]] = (),
) -> Row:
    """The document; its key is in the data or one of the `others`. Raises ValueError without a text."""
    labelled = [one for one in results if _labels(one) and _offsets(one) is not None]
    to_name = next((name for name, _ in Counter(map(_to, labelled)).most_common(1)), "")
    name = _text_name(data, to_name, labelled)
    text = plain_text(data[name])
    regions: dict[str, _Region] = {}
    ranges: dict[tuple[int, int], list[_Region]] = defaultdict(list)
    links = []
    for number, one in enumerate(results):
        if said := cancelling(one) or cancelling(_value(one)):
            left.mentions[said] += 1
        elif one.get("type") == "relation":
            links.append(one)
        elif _to(one) == to_name and _labels(one):
            offsets = _offsets(one)
            if offsets is None or ("globalOffsets" in _value(one) and ("<" in text or "&" in text)):
                left.regions[str(one.get("type"))] += 1
                continue
            id_ = str(one.get("id") or number)
            if id_ in regions:  # labelled with two controls
                regions[id_].kinds += _labels(one)
            else:
                quote = _value(one).get("text")
                quote = plain_text(quote) if isinstance(quote, str) else ""
                regions[id_] = _Region(*offsets, quote, _labels(one))
                ranges[offsets].append(regions[id_])
            _describe(regions[id_], one, left)
        elif _labels(one):
            left.regions[f"{one.get('type')} of {_to(one)}"] += 1
    for one in results:
        if one.get("type") != "relation" and not _labels(one) and not cancelling(one):
            region = regions.get(str(one.get("id")))
            offsets = _offsets(one)
            _answer([region] if region else ranges.get(offsets, []) if offsets else [], one, left)
    numbers = {id_: number for number, id_ in enumerate(regions)}
    relations = [_relation(one, f"R{number}", numbers, left) for number, one in enumerate(links, 1)]
    mentions = tuple(
        RowMention(
            ((one.start, one.end),), one.quote, "/".join(dict.fromkeys(one.kinds)), tuple(dict.fromkeys(one.stated))
        )
        for one in regions.values()
    )
    attributes = {number: one.attributes for number, one in enumerate(regions.values()) if one.attributes}
    kept = tuple(one for one in relations if one is not None)
    left.row_fields.update(unread_fields(data, (name, "title", *KEYS)))
    found = (home[one] for home in (data, *others) for one in KEYS if isinstance(home.get(one), str | int))
    key, title = plain_text(str(next(found, ""))), data.get("title")
    title = plain_text(title) if isinstance(title, str) else ""
    return Row(key, title, text, plain_passages(text), mentions, (), kept, attributes, left)


def _to(one: Mapping[str, Any]) -> str:
    """The name of the labelled object; '' in JSON_MIN."""
    return str(one.get("to_name") or "")


def _text_name(data: Mapping[str, Any], to_name: str, labelled: Sequence[Mapping[str, Any]]) -> str:
    """The field of the data with the text: of the labelled object's name, or the one with most of the quoted texts, or
    of a usual name, or the longest. Raises ValueError without one."""
    texts = {key: one for key, one in data.items() if isinstance(one, str) and one.strip()}
    if to_name in texts:
        return to_name
    if not texts:
        raise ValueError(tr("has no text"))
    quotes = [one for result in labelled[:_MOST_LABELS] if isinstance(one := _value(result).get("text"), str)]
    usual = {key: -at for at, key in enumerate(TEXTS)}
    return max(
        texts, key=lambda key: (sum(one in texts[key] for one in quotes), usual.get(key, -len(TEXTS)), len(texts[key]))
    )


def _value(one: Mapping[str, Any]) -> Mapping[str, Any]:
    value = one.get("value")
    return value if isinstance(value, dict) else {}


def _labels(one: Mapping[str, Any]) -> list[str]:
    """A region's labels, whose field is named like the result's type: `labels`, `hypertextlabels`; else none."""
    kind = str(one.get("type") or "")
    found = _value(one).get(kind, _value(one).get("labels")) if kind.endswith("labels") else None
    return [plain_text(str(each)) for each in found if isinstance(each, str | int)] if isinstance(found, list) else []


def _offsets(one: Mapping[str, Any]) -> tuple[int, int] | None:
    value = _value(one)
    home = value.get("globalOffsets")
    home = home if isinstance(home, dict) else value
    start, end = home.get("start"), home.get("end")
    return (start, end) if type(start) is int and type(end) is int and 0 <= start < end else None


def _describe(region: _Region, one: Mapping[str, Any], left: Unread) -> None:
    """Take the identifiers and notes of a region's own result."""
    value, kind = _value(one), str(one.get("type"))
    for home, known in ((value, (*_VALUE, "labels", kind)), (one, _RESULT)):
        name, stated = identifier_field(home, known)
        region.stated += stated
        left.mention_fields.update(unread_fields(home, (*known, name)))
    meta = one.get("meta")
    for name, said in meta.items() if isinstance(meta, dict) else ():
        _say(region, "meta" if name == "text" else name, said, left)


def _answer(regions: Sequence[_Region], one: Mapping[str, Any], left: Unread) -> None:
    """Take an answer of another control about regions; one about the whole document is counted."""
    value, kind = _value(one), str(one.get("type"))
    name = str(one.get("from_name") or kind)
    answer = next((value[key] for key in (kind, *_ANSWERS) if not is_empty(value.get(key))), None)
    if not regions or is_empty(answer):
        left.row_fields[f"{name} ({kind})"] += 1
        return
    for region in regions:
        _say(region, name, answer, left)


def _say(region: _Region, name: str, value: object, left: Unread) -> None:
    """Values as identifiers, if the name or all the values say so, else as an attribute; others are counted. A
    taxonomy's identifier is its last step."""
    said = _texts(value)
    last = [one.rpartition(_STEP)[2] for one in said]
    listed = [one for one in (value if isinstance(value, list) else [value]) if not is_empty(one)]
    is_other = len(said) < len(listed) or any(isinstance(one, dict) for one in listed)
    id_name, stated = identifier_field({name: value if is_other else last}, ())
    if id_name:
        region.stated += stated
    elif len(said) < len(listed):
        left.mention_fields.update(unread_fields({name: value}, ()))
    elif last and all(_CURIE.fullmatch(one.strip()) for one in last):
        region.stated += last
    elif said:
        region.attributes[plain_text(name)] = ", ".join(said)


def _texts(value: object, depth: int = 0) -> list[str]:
    """The texts in an answer; the steps of a taxonomy are one text."""
    if isinstance(value, list | dict) and depth > _DEEPEST:
        return []
    if isinstance(value, list):
        paths = [_STEP.join(_texts(one, depth + 1)) if isinstance(one, list) else one for one in value]
        return [text for one in paths for text in _texts(one, depth + 1)]
    if isinstance(value, dict):
        found = next((value[key] for key in ("id", "uri", "curie", "value", "name") if key in value), None)
        return _texts(found, depth + 1)
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    usable = isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip()
    return [plain_text(str(value)).strip()] if usable else []


def _relation(one: Mapping[str, Any], key: str, numbers: Mapping[str, int], left: Unread) -> SourceRelation | None:
    ends = [numbers.get(str(one.get(name))) for name in ("from_id", "to_id")]
    if one.get("direction") == "left":
        ends.reverse()
    first, second = ends
    if first is None or second is None:
        left.relations["relation"] += 1
        return None
    kind = "/".join(_texts(one.get("labels"))) or "relation"
    note = "both directions" if one.get("direction") == "bi" else ""
    known = ("type", "from_id", "to_id", "direction", "labels")
    left.mention_fields.update(unread_fields(one, known))
    return SourceRelation(key, kind, (SourceEnd(record=first), SourceEnd(record=second)), note=note)
