"""Attributes of mentions: the project's list of them, and their values; each change is an undoable operation.

The payload of setting is {"mentions": [...], "attributes": [[mention, attribute, value before, value after], ...]};
that of a change of the list is {"scheme": [before, after]}, in the format of `dump_scheme`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from curator.domain.attributes import KEY as ATTRIBUTES_KEY
from curator.domain.attributes import Attribute, AttributeEdit, Given, Scheme, dump_scheme, load_scheme
from curator.domain.decisions import Change, ChangeKind, OperationKind
from curator.domain.documents import Mention
from curator.domain.rounds import RoundKind
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import CachedAnswer, Context, Service
from curator.services.curating.deciding import mentions_words
from curator.services.curating.mention_edits import living
from curator.services.ports.storage import UnitOfWork

SET, CLEARED = "Set {attribute} of {what} to {value}", "Cleared {attribute} of {what}"
ONE_KEEPS = "{n} mention keeps its value of “{name}”, hidden; restoring what you deleted shows it again."
KEEP = "{n:,} mentions keep their values of “{name}”, hidden; restoring what you deleted shows them again."
IN_ROUNDS = "Open rounds use the new list at once: {names}. What their curators have set is kept."
UNCHANGED = "{what} already has this value; nothing was changed."
Value = tuple[int, int, int | None]
"""Mention id, attribute id, value id; None clears."""


class AttributeService(Service):
    """The project's attributes and their values."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._scheme = CachedAnswer(context.store, scheme_of)

    def scheme(self) -> Scheme:
        """Every attribute of the project, including deleted ones."""
        return self._scheme.get()

    def save(self, scheme: Scheme) -> Change | None:
        """Make this the project's list; None if nothing changed. Raises UserError if somebody else changed the list so
        that ids would be lost."""
        with self._store.write() as unit:
            before = scheme_of(unit)
            if before == scheme:
                return None
            if not _ids(before) <= _ids(scheme):
                raise UserError(tr("The attributes were changed in the meantime. Open the list again."))
            change = save_in(unit, scheme, _changed(before, scheme), curator=self._curator(), at=self._clock.now())
        return self._emit(change)

    def notes(self, scheme: Scheme) -> list[str]:
        """Warnings before this list is saved: deleted values that mentions have, and open rounds."""
        with self._store.read() as unit:
            before, uses = scheme_of(unit), unit.attributes.uses()
            rounds = [one.name for one in unit.rounds.all() if not one.closed and one.kind is not RoundKind.CONSISTENCY]
        shown = {value.id for one in scheme.shown for value in one.shown}
        notes = []
        for one in before.shown:
            number = sum(uses.get(value.id, 0) for value in one.shown if value.id not in shown)
            if number:
                notes.append(ntr(ONE_KEEPS, KEEP, number, name=one.name))
        if rounds and before != scheme and before.attributes:
            notes.append(tr(IN_ROUNDS, names=", ".join(f"“{one}”" for one in rounds)))
        return notes

    def uses(self) -> dict[int, int]:
        """Value id -> number of mentions that have it."""
        with self._store.read() as unit:
            return unit.attributes.uses()

    def of(self, mention_ids: Sequence[int]) -> dict[int, Given]:
        """The attributes of mentions, without deleted attributes and values; mentions without attributes are absent."""
        with self._store.read() as unit:
            return given_of(unit, mention_ids)

    def history(self, mention_id: int) -> list[AttributeEdit]:
        """Every change of the mention's attributes, oldest first, including undone ones and the undo steps."""
        with self._store.read() as unit:
            return unit.attributes.edits(mention_id)

    def set(self, mention_ids: Sequence[int], attribute_id: int, value_id: int | None) -> Change:
        """Give mentions a value as one operation; None clears it.

        Raises UserError for an unknown or deleted mention, attribute or value, for a type that does not have the
        attribute, and if every mention already has the value.
        """
        with self._store.write() as unit:
            change = self.set_in(unit, mention_ids, attribute_id, value_id)
        return self._emit(change)

    def set_in(self, unit: UnitOfWork, mention_ids: Sequence[int], attribute_id: int, value_id: int | None) -> Change:
        """The same within a unit of the caller, who emits the change."""
        mentions = [living(unit, one) for one in mention_ids]
        attribute = checked_attribute(scheme_of(unit), mentions, attribute_id, value_id)
        text = said(attribute, value_id, mentions)
        change = self.give_in(unit, [(one.id, attribute_id, value_id) for one in mentions], text)
        if change is None:
            raise UserError(tr(UNCHANGED, what=mentions_words(mentions)))
        return change

    def give_in(
        self, unit: UnitOfWork, values: Sequence[Value], text: str, *, scheme: Scheme | None = None
    ) -> Change | None:
        """Set many values, after the list of attributes if one is given, as one operation described by `text`; None if
        nothing changes. The caller emits the change. Raises UserError for an unknown mention."""
        ids = list(dict.fromkeys(mention for mention, _, _ in values))
        documents = tuple(dict.fromkeys(unit.mentions.documents_of(ids).values()))
        had, old = unit.attributes.values(ids), scheme_of(unit)
        steps = [(*one, had.get(one[0], {}).get(one[1])) for one in values]
        changed = [(mention, name, before, after) for mention, name, after, before in steps if before != after]
        if not changed and scheme in (None, old):
            return None
        payload: dict[str, Any] = {"mentions": list(dict.fromkeys(one[0] for one in changed)), "attributes": changed}
        if scheme is not None and scheme != old:
            payload["scheme"] = [dump_scheme(old), dump_scheme(scheme)]
            unit.meta.set(ATTRIBUTES_KEY, dump_scheme(scheme))
        at, curator = self._clock.now(), self._curator()
        operation = unit.operations.append(
            OperationKind.SET_ATTRIBUTE, actor=curator, at=at, text=text, payload=payload
        )
        rows = [(mention, attribute, after) for mention, attribute, _, after in changed]
        unit.attributes.append(rows, curator=curator, at=at, operation_id=operation)
        return Change(ChangeKind.ATTRIBUTES, curator, text, documents, tuple(payload["mentions"]), operation)


def scheme_of(unit: UnitOfWork) -> Scheme:
    """The project's attributes."""
    return load_scheme(unit.meta.get(ATTRIBUTES_KEY) or "")


def save_in(unit: UnitOfWork, scheme: Scheme, text: str, *, curator: str, at: datetime) -> Change:
    """Make this the project's list, as an operation described by `text`."""
    operation = unit.operations.append(
        OperationKind.DEFINE_ATTRIBUTES,
        actor=curator,
        at=at,
        text=text,
        payload={"scheme": [dump_scheme(scheme_of(unit)), dump_scheme(scheme)]},
    )
    unit.meta.set(ATTRIBUTES_KEY, dump_scheme(scheme))
    return Change(ChangeKind.ATTRIBUTES, curator, text, operation_id=operation)


def given_of(
    unit: UnitOfWork, mention_ids: Sequence[int], *, round_id: int | None = None, curator: str = ""
) -> dict[int, Given]:
    """The attributes of mentions in the project, or from a curator in a round; nothing is queried without mentions."""
    scheme = scheme_of(unit)
    if not scheme.shown:
        return {}
    chosen = unit.attributes.values(mention_ids, round_id=round_id, curator=curator)
    return {mention: given for mention, values in chosen.items() if (given := scheme.given(values))}


def checked_attribute(
    scheme: Scheme, mentions: Collection[Mention], attribute_id: int, value_id: int | None
) -> Attribute:
    """The attribute. Raises UserError if it or the value is unknown or deleted, or if a mention's type lacks it."""
    attribute = scheme.get(attribute_id)
    if attribute.hidden or (value_id is not None and attribute.value(value_id) is None):
        raise UserError(
            tr("“{name}” or its value was deleted (Annotate › Attributes of the project).", name=attribute.name)
        )
    for one in mentions:
        if not attribute.fits(one.type):
            raise UserError(
                tr("Mentions of type {type} do not have the attribute “{name}”.", type=one.type, name=attribute.name)
            )
    return attribute


def said(attribute: Attribute, value_id: int | None, mentions: Sequence[Mention]) -> str:
    """The description of the step."""
    value, what = attribute.value(value_id), mentions_words(mentions)
    if value is None:
        return tr(CLEARED, attribute=attribute.name, what=what)
    return tr(SET, attribute=attribute.name, what=what, value=value.name)


def restore_attributes(
    unit: UnitOfWork, payload: dict[str, Any], *, actor: str, at: datetime, operation_id: int, forward: bool
) -> None:
    """Redo or undo an operation's changes of attributes and of the project's list of them."""
    if schemes := payload.get("scheme"):
        old, new = (load_scheme(one) for one in schemes)
        unit.meta.set(ATTRIBUTES_KEY, dump_scheme(scheme_of(unit).put_back(new if forward else old)))
    if steps := payload.get("attributes"):
        rows = [(mention, attribute, after if forward else before) for mention, attribute, before, after in steps]
        unit.attributes.append(rows, curator=actor, at=at, operation_id=operation_id)


def _changed(before: Scheme, after: Scheme) -> str:
    """The description of the change of the list."""
    old, new = {one.id for one in before.shown}, {one.id for one in after.shown}
    added = ", ".join(f"“{one.name}”" for one in after.shown if one.id not in old)
    deleted = ", ".join(f"“{one.name}”" for one in before.shown if one.id not in new)
    if added and not deleted:
        return tr("Added the attribute {names}", names=added)
    if deleted and not added:
        return tr("Deleted the attribute {names}", names=deleted)
    return tr("Changed the attributes of the project")


def _ids(scheme: Scheme) -> set[tuple[int, int]]:
    return {(one.id, value.id) for one in scheme.attributes for value in one.values}
