"""Rounds: which curators judge which documents independently, their progress, and closing a round."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import timedelta

from curator.domain.decisions import Change, ChangeKind
from curator.domain.documents import Split
from curator.domain.rounds import Round, RoundKind, RoundProgress
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import ACTIVE_ROUNDS, Context, Service, active_round, active_rounds
from curator.services.ports.processes import LinkerPort
from curator.services.ports.storage import UnitOfWork
from curator.services.rounds.round_work import RoundSeat

CLOSED = "The round “{name}” is closed. Reopen it before anybody judges in it."
LATER = timedelta(days=1)
"""A round on the curator's own consistency has documents decided at least this long ago."""
NO_DOCUMENTS = "A round needs at least one document. Choose some, then create the round."
NO_NAME = "A round needs a name, such as “pilot 1”."
UNKNOWN = "There is no round “{name}” in this project. Available: {names}."
NONE_YET = "There is no round “{name}”: this project has no rounds yet. Create one first."
ADJUDICATED = "“{name}” has been partly adjudicated. Reopening it would show its curators the decisions."


class RoundService(Service):
    """Creates, enters, closes and leaves rounds."""

    def __init__(self, context: Context, linker: LinkerPort) -> None:
        super().__init__(context)
        self._linker = linker

    # --- what there is ---

    def all(self) -> list[Round]:
        """All rounds, oldest first."""
        with self._store.read() as unit:
            return unit.rounds.all()

    def named(self, name: str) -> Round:
        """The round with this name. Raises UserError that lists the rounds."""
        with self._store.read() as unit:
            return named(unit, name)

    def progress(self, round_id: int) -> list[RoundProgress]:
        """A line for each curator who judged anything."""
        with self._store.read() as unit:
            return unit.rounds.progress(round_id)

    def active(self) -> Round | None:
        """The open round that this curator is judging in; None if there is none."""
        with self._store.read() as unit:
            return active_round(unit, self._curator())

    def people(self) -> list[str]:
        """Names of people who decided or judged, without imports."""
        with self._store.read() as unit:
            return unit.records.curators()

    # --- beginning and ending ---

    def create(self, name: str, document_ids: Sequence[int], *, kind: RoundKind = RoundKind.BLIND) -> Round:
        """Create a round. Raises UserError for an empty or existing name and for a round without documents."""
        if not name.strip():
            raise UserError(tr(NO_NAME))
        if not document_ids:
            raise UserError(tr(NO_DOCUMENTS))
        with self._store.write() as unit:
            made = unit.rounds.create(name.strip(), kind, document_ids, at=self._clock.now())
            found = unit.rounds.get(made)
        self._tell(
            ntr(
                "Created the round “{name}” with {n} document",
                "Created the round “{name}” with {n:,} documents",
                found.documents,
                name=found.name,
            )
        )
        return found

    def choose_documents(
        self, count: int, *, split: Split | None = None, seed: int = 0, decided: bool = False
    ) -> list[int]:
        """The given number of random documents, in queue order: the same for the same seed. All if there are fewer.
        With `decided` only documents in which this curator decided something at least `LATER` ago."""
        with self._store.read() as unit:
            ids = unit.documents.ids(split=split)
            if decided:
                before = self._clock.now() - LATER
                old = {document for document, _, at in unit.records.decided_by(self._curator()) if at <= before}
                ids = [one for one in ids if one in old]
        drawn = random.Random(seed).sample(ids, min(count, len(ids)))  # noqa: S311 - a sample, no secret
        return sorted(drawn)

    def enter(self, round_id: int) -> Round:
        """From now on this curator judges in the round, even after a restart. Raises UserError for a closed round."""
        with self._store.write() as unit:
            found = unit.rounds.get(round_id)
            if found.closed:
                raise UserError(tr(CLOSED, name=found.name))
            _set_active(unit, self._curator(), round_id)
        return found

    def seat(self, found: Round, curator: str = "") -> RoundSeat:
        """The queue, decisions and suggestions of a curator (default: the current one) in the round."""
        name = curator or self._curator()
        return RoundSeat.take(self._store, self._linker, self._events, self._clock, found, name)

    def leave(self) -> None:
        """Return to the project's own decisions; the judgements stay, and the round can be entered again."""
        with self._store.write() as unit:
            _set_active(unit, self._curator(), None)

    def close(self, round_id: int) -> Change:
        """Close the round, so that its disagreements can be adjudicated."""
        with self._store.write() as unit:
            found = unit.rounds.get(round_id)
            unit.rounds.set_closed(round_id, True)
        return self._tell(tr("Closed the round “{name}”", name=found.name))

    def reopen(self, round_id: int) -> Change:
        """Reopen the round. Raises UserError if a part of it was adjudicated, since its curators could see that."""
        with self._store.write() as unit:
            found = unit.rounds.get(round_id)
            if unit.records.noted(round_note(found.name)):
                raise UserError(tr(ADJUDICATED, name=found.name))
            unit.rounds.set_closed(round_id, False)
        return self._tell(tr("Reopened the round “{name}”", name=found.name))

    def _tell(self, text: str) -> Change:
        change = Change(ChangeKind.ROUND, self._curator(), text)
        return self._emit(change)


ANY_ROUND = "round “"
"""The beginning of the notes of all adjudicated decisions."""


def named(unit: UnitOfWork, name: str) -> Round:
    rounds = unit.rounds.all()
    found = next((one for one in rounds if one.name == name), None)
    if found is None:
        names = ", ".join(f"“{one.name}”" for one in rounds)
        raise UserError(tr(UNKNOWN, name=name, names=names) if rounds else tr(NONE_YET, name=name))
    return found


def round_note(name: str) -> str:
    """The beginning of the note of a decision from a round's adjudication."""
    return f"{ANY_ROUND}{name}”: "


def adjudicated_by(note: str) -> bool:
    """Whether a decision's note marks it as from a round's adjudication."""
    return note.startswith(ANY_ROUND) and "”: " in note


def _set_active(unit: UnitOfWork, curator: str, round_id: int | None) -> None:
    found = active_rounds(unit)
    found.pop(curator, None)
    if round_id is not None:
        found[curator] = round_id
    unit.meta.set(ACTIVE_ROUNDS, json.dumps(found, ensure_ascii=False))
