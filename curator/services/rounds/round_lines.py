"""Writing and reading the lines of a round's file; errors name the line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import whitespace
from typing import Any

from curator.domain.attributes import AttributeEdit
from curator.domain.decisions import NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.documents import text_hash
from curator.domain.rounds import Judgement, RoundKind
from curator.domain.wording import UserError, tr
from curator.services.ports.storage import UnitOfWork
from curator.services.rounds.round_attributes import facts_of, is_name

FORMAT, VERSION = "curator-round", 1
REASONS: dict[Outcome, type[NilReason] | type[RejectReason] | type[SkipReason]] = {
    Outcome.NIL: NilReason,
    Outcome.REJECTED: RejectReason,
    Outcome.SKIPPED: SkipReason,
}
LONGEST_LINE, LONGEST_NAME = 1 << 24, 1000
BOM = "\ufeff"
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters."""
NO_ROUND = "{path} is not a round exported by Curator. Choose a file exported with People › Rounds."
NO_FILE = "{path} is a folder, a device or a pipe. Choose the file that a colleague exported."


def lines_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines that are not blank, with their numbers. Raises UserError."""
    for number, line in enumerate(_raw_lines(path), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(
                tr(
                    "{path}, line {number}: this is not JSON ({error}). Ask for the file again.",
                    path=path,
                    number=number,
                    error=error,
                )
            ) from error
        if not isinstance(value, dict):
            raise UserError(
                tr(
                    "{path}, line {number}: this is not a JSON object. Ask for the file again.",
                    path=path,
                    number=number,
                )
            )
        yield number, value


def _raw_lines(path: Path) -> Iterator[str]:
    """The lines of a file of any size, one at a time. Raises UserError."""
    try:
        if path.exists() and not path.is_file():  # reading a pipe could wait without limit
            raise UserError(tr(NO_FILE, path=path))
        with path.open(encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            while line := file.readline(LONGEST_LINE):
                if len(line) == LONGEST_LINE:
                    raise UserError(tr(NO_ROUND, path=path))
                yield line
    except (OSError, UnicodeError) as error:
        raise UserError(
            tr("{path} cannot be read ({error}). Choose the file that a colleague exported.", path=path, error=error)
        ) from error


def head_line(path: Path, lines: Iterator[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    """The header, which is the first of all lines. Raises UserError if there is none, or one of a newer version."""
    _, head = next(lines, (0, {}))
    if head.get("format") != FORMAT or head.get("kind") not in list(RoundKind) or not _is_short(head.get("name")):
        raise UserError(tr(NO_ROUND, path=path))
    if type(head.get("version")) is not int:
        raise UserError(tr(NO_ROUND, path=path))
    if head["version"] != VERSION:
        raise UserError(
            tr(
                "{path} was written by a newer version of Curator (version {head}). Update Curator on this computer.",
                path=path,
                head=head.get("version"),
            )
        )
    return head


def document_line(unit: UnitOfWork, document_id: int) -> dict[str, Any]:
    """The line that identifies a document and its text."""
    document = unit.documents.get(document_id, compared=True)
    return {
        "document": document.external_id,
        "occurrence": document.occurrence,
        "sha256": text_hash(document.text),
    }


def judgement_line(unit: UnitOfWork, one: Judgement, heads: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    """A judgement. `heads`: the lines of the documents, by id."""
    return {
        **_place(unit, one.mention_id, heads),
        "curator": one.curator,
        "outcome": one.verdict.outcome.value,
        "entities": list(one.verdict.entity_ids),
        "reason": one.verdict.reason.value if one.verdict.reason else None,
        "at": one.at.isoformat(),
    }


def _place(unit: UnitOfWork, mention_id: int, heads: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    mention = unit.mentions.get(mention_id)
    return {
        **heads[mention.document_id],
        "spans": [[span.start, span.end] for span in mention.spans],
        "mention": mention.text,
        "type": mention.type,
    }


def attribute_lines(
    unit: UnitOfWork, edits: Sequence[AttributeEdit], heads: Mapping[int, dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """A line for each mention and curator."""
    found: dict[tuple[int, str], list[AttributeEdit]] = {}
    for one in edits:
        found.setdefault((one.mention_id, one.curator), []).append(one)
    for (mention_id, curator), some in found.items():
        yield {**_place(unit, mention_id, heads), "curator": curator, "attributes": facts_of(some)}


def verdict_in(line: Mapping[str, Any]) -> Verdict:
    """The verdict in a line. Raises KeyError, TypeError or ValueError for an invalid line."""
    outcome = Outcome(line["outcome"])
    if outcome is Outcome.CLEARED:
        raise ValueError("a judgement that was taken back does not travel")
    if line.get("reason") and outcome not in REASONS:
        raise ValueError("this outcome has no reasons")
    reason = REASONS[outcome](line["reason"]) if line.get("reason") else None
    entities = line.get("entities", [])
    if not isinstance(entities, list) or not all(map(_is_short, entities)):
        raise ValueError("the entities are no list of identifiers")
    return Verdict(outcome, tuple(entities), reason)


def name_in(value: object) -> str:
    """The name of a curator, without spaces around it, as in the settings. Raises ValueError."""
    name = value.strip(f"{BOM}{whitespace}") if isinstance(value, str) else value
    if not isinstance(name, str) or not _is_short(name):
        raise ValueError("a judgement has no curator")
    return name


def _is_short(value: object) -> bool:
    """Whether it is a text of one line."""
    short = isinstance(value, str) and len(value) <= LONGEST_NAME and is_name(value)
    return short and not _CONTROL.search(str(value))
