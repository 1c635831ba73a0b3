"""Stored evaluations, each in its own file in the project's folder `evaluations`.

A file holds four compressed lines of JSON: a header, the figures, the errors, the report. Listing reads only the
headers. A file is written once, atomically, and never changed, so it needs no lock on the project. For the 9,385
mentions of BC5CDR's 500 training documents with 929 errors it takes 89 kB, 71 kB of it for the errors.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import secrets
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from curator.domain.decisions import Outcome
from curator.domain.same_string import NAME_CLASS_WORDS, NameClass
from curator.domain.wording import UserError, guarded_row, localised, tr
from curator.foreign_files import open_regular
from curator.services.core.context import Context, Service
from curator.services.ports.files import FileWriter

FOLDER, SUFFIX = "evaluations", ".json.gz"
HTML, ERRORS = "html", "errors"
LONGEST = 1 << 26
"""Bytes of a line. A longer one is cut, and so is no JSON: a small file may hold a very long one."""
BROKEN = (OSError, EOFError, zlib.error, ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class StoredEvaluation:
    """The header of an evaluation. `mentions` were compared, `errors` answers were wrong; None if the list was not
    stored."""

    id: str
    made: datetime
    split: str
    bundle: str
    mentions: int
    errors: int | None


class StoredEvaluations(Service):
    """All methods except `keep` are read-only and thread-safe."""

    def __init__(self, context: Context, files: FileWriter) -> None:
        super().__init__(context)
        self._files = files

    @property
    def _folder(self) -> Path:
        return self._store.folder / FOLDER

    def keep(self, result: Mapping[str, Any]) -> str:
        """Store the result of an evaluation; returns its id. Raises UserError if the folder is not writable."""
        made = datetime.fromisoformat(str(result["made"]))
        id_ = f"{made:%Y%m%d-%H%M%S}-{result['split']}-{secrets.token_hex(2)}"
        head = {
            "id": id_,
            "made": made.isoformat(),
            "split": result["split"],
            "bundle": result["bundle"],
            "mentions": result["mentions"],
            "errors": len(result[ERRORS]["rows"]) if ERRORS in result else None,
        }
        figures = {name: value for name, value in result.items() if name not in (HTML, ERRORS)}
        lines = (head, figures, result.get(ERRORS), result.get(HTML))
        text = "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in lines)
        packed = gzip.compress(text.encode("utf-8", "surrogatepass"), mtime=0)
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise UserError(
                tr(
                    "The evaluation cannot be stored in {folder} ({strerror}). Check the folder's permissions and the "
                    "free disk space.",
                    folder=self._folder,
                    strerror=error.strerror,
                )
            ) from error
        self._files.write({self._folder / f"{id_}{SUFFIX}": packed})
        return id_

    def all(self) -> list[StoredEvaluation]:
        """All evaluations, newest first. Unreadable files are left out: `result` reports the problem. A read that
        failed is tried again, or an older evaluation would count as the newest."""
        found = []
        for path in self._folder.glob(f"*{SUFFIX}"):
            for _ in range(2):
                try:
                    with open_regular(path) as packed, gzip.open(packed) as file:
                        found.append(_head(json.loads(file.readline(LONGEST))))
                    break
                except BROKEN:
                    continue
        return sorted(found, key=lambda one: (one.made, one.id), reverse=True)

    def find(self, evaluation_id: str = "") -> StoredEvaluation:
        """The evaluation with this id, or the newest. Raises UserError if there is none."""
        every = self.all()
        found = next((one for one in every if evaluation_id in ("", one.id)), None)
        if found is not None:
            return found
        if not every:
            raise UserError(
                tr("No evaluation is stored yet. Run Tools › Evaluate, or `curator evaluate`, to make one.")
            )
        raise UserError(
            tr(
                "Evaluation {id} was not found. Stored evaluations: {list}.",
                id=evaluation_id,
                list=", ".join(one.id for one in every),
            )
        )

    def result(self, evaluation_id: str) -> dict[str, Any]:
        """The result as stored, including the report. Raises UserError if it is missing or damaged."""
        path = self._folder / f"{self.find(evaluation_id).id}{SUFFIX}"
        try:
            with open_regular(path) as packed, gzip.open(packed) as file:
                _, figures, errors, html = (json.loads(file.readline(LONGEST)) for _ in range(4))
            return {**figures, ERRORS: errors or {}, HTML: html}
        except BROKEN as error:
            if isinstance(error, OSError) and error.errno is not None:  # a damaged file has no number
                raise UserError(tr("cannot read {path}: {strerror}", path=path, strerror=error.strerror)) from error
            raise UserError(
                tr(
                    "The stored evaluation {path} cannot be read ({error}). Delete the file and evaluate again.",
                    path=path,
                    error=error,
                )
            ) from error

    def errors(self, evaluation_id: str) -> ErrorList:
        """The errors of an evaluation, with the mentions decided differently since. Raises UserError like `result`."""
        return self.compared(errors_of(self.result(evaluation_id)))

    def newest_of_splits(self) -> list[StoredEvaluation]:
        """The newest evaluation of every split, newest first."""
        found: dict[str, StoredEvaluation] = {}
        for one in self.all():
            found.setdefault(one.split, one)
        return list(found.values())

    def errors_of_splits(self) -> ErrorList:
        """The errors of `newest_of_splits` as one list."""
        return self.compared(joined(errors_of(self.result(one.id)) for one in self.newest_of_splits()))

    def compared(self, found: ErrorList) -> ErrorList:
        """The list with the mentions whose decision is no longer its gold."""
        with self._store.read() as unit:
            current = unit.decisions.current([one.mention_id for one in found.rows])
        changed = set()
        for row in found.rows:
            decision = current.get(row.mention_id)
            outcome = decision.verdict.outcome if decision is not None else None
            ids = decision.verdict.entity_ids if decision is not None else ()
            same = outcome is Outcome.LINK and not set(ids).isdisjoint(row.gold)
            if not same and not (outcome is Outcome.NIL and row.is_nil):
                changed.add(row.mention_id)
        return replace(found, changed=frozenset(changed))

    def write(self, found: ErrorList, path: Path) -> None:
        """The list as a table or as JSON, by the suffix, atomically. Raises UserError."""
        self._files.write({path: errors_file(found, path.name)})


def _head(raw: Mapping[str, Any]) -> StoredEvaluation:
    errors = raw.get("errors")
    return StoredEvaluation(
        str(raw["id"]),
        datetime.fromisoformat(raw["made"]),
        str(raw["split"]),
        str(raw["bundle"]),
        int(raw["mentions"]),
        None if errors is None else int(errors),
    )


# The errors of an evaluation: one row for each wrong answer, their kinds, filters, and export.

NIL = "NIL"


class ErrorKind(StrEnum):
    """Why an answer is wrong, in the order of the table of kinds; see `training.evaluation.errors`."""

    RANKED_LOWER = "ranked_lower"
    NOT_RETRIEVED = "not_retrieved"
    NIL_LINK = "nil_link"
    LINKED_NIL = "linked_nil"
    GOLD_NOT_IN_KB = "gold_not_in_kb"
    NO_ANSWER = "no_answer"


class Relation(StrEnum):
    """How the answer relates to the gold entity, within one step of the hierarchy."""

    PARENT = "parent"
    CHILD = "child"
    SIBLING = "sibling"


KIND_WORDS = {
    ErrorKind.RANKED_LOWER: "gold ranked lower",
    ErrorKind.NOT_RETRIEVED: "gold not a candidate",
    ErrorKind.NIL_LINK: "NIL, gold is a link",
    ErrorKind.LINKED_NIL: "linked, gold is NIL",
    ErrorKind.GOLD_NOT_IN_KB: "gold not in knowledge base",
    ErrorKind.NO_ANSWER: "no answer",
}
RELATION_WORDS = {
    Relation.PARENT: "parent of gold",
    Relation.CHILD: "child of gold",
    Relation.SIBLING: "sibling of gold",
}


@dataclass(frozen=True, slots=True)
class EvaluationError:
    """One wrong answer. `gold` and `answer` are entity ids; empty means NIL. `probability` is the linker's probability
    that its answer is right. `rank` (from 1), `gold_probability` and `gold_score` belong to the first gold entity among
    the candidates; None if there is none. `seen`: the string was decided in training documents; None if unknown.
    `name_class`: how the mention's words resemble the gold entity's names; None for NIL, and in older evaluations.
    `before` and `after` are the text around the mention."""

    kind: ErrorKind
    relation: Relation | None
    split: str
    document_id: int
    document: str
    mention_id: int
    text: str
    before: str
    after: str
    types: tuple[str, ...]
    gold: tuple[str, ...]
    answer: str
    probability: float
    rank: int | None
    gold_probability: float | None
    gold_score: float | None
    seen: bool | None
    name_class: NameClass | None = None

    @property
    def is_nil(self) -> bool:
        """Whether the decision counts as NIL."""
        return self.kind in (ErrorKind.LINKED_NIL, ErrorKind.GOLD_NOT_IN_KB) or not self.gold

    @property
    def kind_words(self) -> str:
        return tr(KIND_WORDS[self.kind])

    @property
    def relation_words(self) -> str:
        return tr(RELATION_WORDS[self.relation]) if self.relation is not None else ""

    @property
    def name_class_words(self) -> str:
        return tr(NAME_CLASS_WORDS[self.name_class]) if self.name_class is not None else ""


@dataclass(frozen=True, slots=True)
class ErrorList:
    """Errors, most confident first, with the names of the entities by id. `changed` are the mentions whose decision is
    no longer the gold of the evaluation."""

    rows: tuple[EvaluationError, ...] = ()
    names: Mapping[str, str] | None = None
    changed: frozenset[int] = frozenset()

    def words(self, entity_id: str) -> str:
        """The entity's name; its id if the evaluation's knowledge base has no name for it."""
        return (self.names or {}).get(entity_id, entity_id) if entity_id else NIL

    def gold_words(self, row: EvaluationError) -> str:
        return " + ".join(map(self.words, row.gold)) or NIL

    def chosen(self, where: ErrorFilter) -> ErrorList:
        return ErrorList(tuple(one for one in self.rows if where.allows(one)), self.names, self.changed)

    def counts(self) -> dict[ErrorKind, Counter[Relation | None]]:
        """Numbers by kind, in the order of the kinds, and within it by relation; kinds without errors are absent."""
        found = {kind: Counter(one.relation for one in self.rows if one.kind is kind) for kind in ErrorKind}
        return {kind: numbers for kind, numbers in found.items() if numbers}

    def name_classes(self) -> dict[NameClass, int]:
        """Numbers by the words of the mention, from easy to hard; classes without errors are absent."""
        numbers = Counter(one.name_class for one in self.rows)
        return {one: numbers[one] for one in NameClass if numbers[one]}

    @property
    def types(self) -> list[str]:
        return sorted({type_words(one.types) for one in self.rows}, key=str.casefold)


@dataclass(frozen=True, slots=True)
class ErrorFilter:
    """None and '' allow everything."""

    kind: ErrorKind | None = None
    relation: Relation | None = None
    type: str = ""
    split: str = ""
    seen: bool | None = None
    name_class: NameClass | None = None

    def allows(self, one: EvaluationError) -> bool:
        return (
            self.kind in (None, one.kind)
            and self.relation in (None, one.relation)
            and self.type in ("", type_words(one.types))
            and self.split in ("", one.split)
            and self.seen in (None, one.seen)
            and self.name_class in (None, one.name_class)
        )


def type_words(types: Sequence[str]) -> str:
    """A mention's alternative types as one word."""
    return " | ".join(types) or "–"


def errors_of(result: Mapping[str, Any]) -> ErrorList:
    """The errors in the result of an evaluation, by descending probability; none if it was made without them. Unknown
    fields are left out."""
    found = result.get("errors")
    if not isinstance(found, Mapping) or "rows" not in found:
        return ErrorList(names={})
    split, heads = str(result.get("split", "")), list(found["fields"])
    rows = [_row(dict(zip(heads, one, strict=False)), split) for one in found["rows"]]
    return ErrorList(confident_first(one for one in rows if one is not None), dict(found.get("names", {})))


def joined(lists: Iterable[ErrorList]) -> ErrorList:
    """Several lists joined."""
    every = list(lists)
    names = {id_: name for one in every for id_, name in (one.names or {}).items()}
    return ErrorList(confident_first(row for one in every for row in one.rows), names)


def confident_first(rows: Iterable[EvaluationError]) -> tuple[EvaluationError, ...]:
    return tuple(sorted(rows, key=lambda one: (-one.probability, one.split, one.document_id, one.mention_id)))


def _row(raw: Mapping[str, Any], split: str) -> EvaluationError | None:
    """A row; None for a kind from a newer version."""
    try:
        return EvaluationError(
            kind=ErrorKind(raw["kind"]),
            relation=Relation(raw["relation"]) if raw.get("relation") else None,
            split=split,
            document_id=int(raw["document"]),
            document=str(raw["document_name"]),
            mention_id=int(raw["mention"]),
            text=str(raw["text"]),
            before=str(raw["before"]),
            after=str(raw["after"]),
            types=tuple(raw["types"]),
            gold=tuple(raw["gold"]),
            answer=str(raw["answer"]),
            probability=float(raw["probability"]),
            rank=raw["rank"],
            gold_probability=raw["gold_probability"],
            gold_score=raw["gold_score"],
            seen=raw["seen"],
            name_class=NameClass(raw["name_class"]) if raw.get("name_class") else None,
        )
    except (KeyError, TypeError, ValueError):
        return None


# The table of kinds, and the list as a file.


def kind_lines(found: ErrorList, *, mentions: int) -> list[str]:
    """A short table: the number of errors of each kind, as a share of `mentions`, and how close the answers are."""
    total = len(found.rows)
    lines = [tr("Errors: {total:,} of {mentions:,} mentions", total=total, mentions=mentions)]
    counts = found.counts()
    wide = max((len(tr(KIND_WORDS[kind])) for kind in counts), default=0)
    for kind, numbers in counts.items():
        number = numbers.total()
        near = [f"{tr(RELATION_WORDS[one])} {localised(numbers[one], ',')}" for one in Relation if numbers[one]]
        share = f"{localised(100 * number / total, '5.1f')} %"
        tail = f"   {', '.join(near)}" if near else ""
        lines.append(f"  {tr(KIND_WORDS[kind]):{wide}}  {number:7,}  {share}{tail}")
    if classes := found.name_classes():
        words = [f"{tr(NAME_CLASS_WORDS[one])} {localised(number, ',')}" for one, number in classes.items()]
        lines.append(tr("  words of the mention: {numbers}", numbers=", ".join(words)))
    if new := sum(one.seen is False for one in found.rows):
        lines.append(tr("  strings not seen in training: {new:,}", new=new))
    return lines


COLUMNS: tuple[tuple[str, Callable[[EvaluationError, ErrorList], Any]], ...] = (
    ("kind", lambda row, _: row.kind.value),
    ("relation", lambda row, _: row.relation.value if row.relation else None),
    ("split", lambda row, _: row.split),
    ("document", lambda row, _: row.document),
    ("mention_id", lambda row, _: row.mention_id),
    ("type", lambda row, _: "|".join(row.types)),
    ("before", lambda row, _: row.before),
    ("mention", lambda row, _: row.text),
    ("after", lambda row, _: row.after),
    ("gold", lambda row, _: "|".join(row.gold) or NIL),
    ("gold_name", lambda row, found: "|".join(map(found.words, row.gold))),
    ("answer", lambda row, _: row.answer or NIL),
    ("answer_name", lambda row, found: found.words(row.answer) if row.answer else ""),
    ("probability", lambda row, _: row.probability),
    ("gold_rank", lambda row, _: row.rank),
    ("gold_probability", lambda row, _: row.gold_probability),
    ("gold_score", lambda row, _: row.gold_score),
    ("seen_in_training", lambda row, _: row.seen),
    ("words", lambda row, _: row.name_class.value if row.name_class else None),
)


def errors_file(found: ErrorList, name: str) -> bytes:
    """The list in the format of `name`'s suffix: a table with tabs, or a JSON list of objects. Raises UserError for
    another suffix."""
    suffix = check_errors_name(name)
    rows = [{column: read(row, found) for column, read in COLUMNS} for row in found.rows]
    if suffix == ".json":
        return (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "surrogatepass")
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerow([column for column, _ in COLUMNS])
    writer.writerows(guarded_row(map(_cell, row.values())) for row in rows)
    return out.getvalue().encode("utf-8", "surrogatepass")


def check_errors_name(name: str) -> str:
    """The suffix. Raises UserError for an unknown one."""
    suffix = Path(name).suffix.lower()
    if suffix not in (".tsv", ".json"):
        raise UserError(tr("{name}: the file name must end in .tsv or .json, which sets the format.", name=name))
    return suffix


def _cell(value: Any) -> Any:
    """A cell on one line, without tabs; yes and no for booleans."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(value.split()) if isinstance(value, str) else value
