"""A document's record edited to hold the current mentions, decisions, attributes and relations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Generic, TypeVar

from curator.domain.documents import SourceFile
from curator.domain.relations import Relation, RelationKind
from curator.domain.wording import tr
from curator.io.files.attributes import AttributeNames
from curator.io.files.export import Action, action_for
from curator.io.files.relations import relations_for
from curator.io.files.report import Report
from curator.services.ports.files import ExportDocument, ExportMention

Part = TypeVar("Part")
"""What holds a mention in a record: an element, a line, an object."""


class DocumentEdit(ABC, Generic[Part]):
    """One document while it is written. With `own`, `item.raw` is a record of this format that is edited; else all
    mentions are new. A format says how it finds, adds, changes and removes parts, and sets `changed` where it does."""

    title: str
    names: AttributeNames
    kinds: Collection[RelationKind] = (RelationKind.MENTIONS,)
    """Relations that the format has."""
    in_text_order = True
    """Whether new parts are added in the order of the text, and not of the mentions' ids."""

    def __init__(self, item: ExportDocument, file: SourceFile, problems: Report, *, own: bool) -> None:
        self.item = item
        self.file = file
        self.problems = problems
        self.own = own
        self.changed = False
        self.parts: dict[int, Part] = {}  # that are in the file, by the ids of their mentions

    def run(self) -> None:
        gone = [self.part(record) for record in self.item.removed_records] if self.own else []
        golds = self.item.mentions
        for gold in sorted(golds, key=lambda one: one.mention.spans) if self.in_text_order else golds:
            action = action_for(gold, self.item.document.external_id, self.problems)
            found = self.part(gold.mention.record) if self.own and gold.mention.record >= 0 else None
            if action is Action.DROP:
                gone += [] if found is None else [found]
                continue
            if found is None:
                found = self.add(gold)
            elif action is not Action.KEEP and not self.edit(found, gold, action):
                gone.append(found)
                continue
            if found is not None:
                self.parts[gold.mention.id] = found
                self._set_attributes(found, gold)
        if self.own and self.item.removed_relations:
            self.unrelate(frozenset(self.item.removed_relations))
        if gone:
            self.changed = True
            self.remove(gone)
        if self.kinds:
            self._relate()

    def _set_attributes(self, part: Part, gold: ExportMention) -> None:
        """Update the project's attributes to their current values; values that are already right do not change."""
        if gold.attributes:
            for name, value in self.names.changes(gold, self.held(part), self.problems).items():
                self.set_attribute(part, name, value)
                self.changed = True

    def _relate(self) -> None:
        written = self.relatable()
        wanted = relations_for(
            self.item, self.problems, own=self.own, kinds=self.kinds, written=written, title=self.title
        )
        for one in wanted:
            self.relate(one)

    @abstractmethod
    def part(self, record: int) -> Part:
        """The part of a mention that came with the record."""

    @abstractmethod
    def add(self, gold: ExportMention) -> Part | None:
        """A new part; None, with a report, for a mention that the format cannot represent."""

    @abstractmethod
    def edit(self, part: Part, gold: ExportMention, action: Action) -> bool:
        """Change a part to the mention's place, type and decision; False if it can no longer be represented."""

    @abstractmethod
    def held(self, part: Part) -> dict[str, str]:
        """The names and values of a part's attributes."""

    @abstractmethod
    def set_attribute(self, part: Part, name: str, value: str | None) -> None:
        """Change, add or, for None, remove an attribute."""

    @abstractmethod
    def remove(self, gone: list[Part]) -> None:
        """Remove parts, and what depends on them."""

    def relatable(self) -> Collection[int]:
        """The ids of the mentions that relations can refer to."""
        return self.parts

    def unrelate(self, keys: frozenset[str]) -> None:
        """Remove the relations with these keys."""

    def relate(self, relation: Relation) -> None:
        """Add a relation between parts that are in the file."""

    def where(self, gold: ExportMention) -> str:
        """Words for a mention in a report."""
        return tr('document {key}: "{quote}"', key=self.item.document.external_id, quote=gold.mention.text)


def is_untouched(item: ExportDocument) -> bool:
    """Whether a document's record already holds all: nothing was decided, moved, added or removed."""
    removed = item.removed_records or item.removed_relations
    same = (one.as_it_was and one.mention.record >= 0 and not one.attributes for one in item.mentions)
    return not removed and all(one.source for one in item.relations) and all(same)
