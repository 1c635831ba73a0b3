"""A knowledge base as JSON lines: `id name synonyms types definition alt_ids tree_numbers parents`.

`id` and `name` are needed, the others may be missing or null. A string instead of a list counts as its only element. A
line with `"obsolete": true` is not an entity: it is stored separately with its replacements in `replaced_by` and
possible ones in `consider`. An obsolete id with exactly one replacement becomes an alternate id of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from curator.domain.entities import Entity, ObsoleteEntity
from curator.domain.wording import tr
from curator.io.files.json_stream import LineError, first_object, parse_object
from curator.io.files.source import BOM, plain_text
from curator.io.kb.base import KbReader, clean_names, inverted, keep_obsolete

LISTS = ("synonyms", "types", "alt_ids", "tree_numbers", "parents")
INSTEAD = ("replaced_by", "consider")
FIELDS = ("id", "name", "definition", "obsolete", *LISTS, *INSTEAD)


class JsonlReader(KbReader):
    format = "jsonl"
    title = "JSON lines (id, name, synonyms ...)"
    refusal = "{path} is not a JSON lines knowledge base: each line needs an `id` and a `name`"

    @staticmethod
    def sniff(head: bytes) -> bool:
        found = first_object(head)
        return "id" in found and "name" in found

    def _successors(self) -> dict[str, str]:
        """The replacement of each obsolete id that has exactly one."""
        found: dict[str, str] = {}
        for line in self.source.lines():
            if '"obsolete"' in line and '"replaced_by"' in line:
                with suppress(LineError):
                    value = parse_object(line.removeprefix(BOM))
                    one, other = value.get("id"), _only(value.get("replaced_by"))
                    if value.get("obsolete") is True and isinstance(one, str) and other:
                        found.setdefault(plain_text(one).strip(), other)
        return found

    def entities(self) -> Iterator[tuple[int, Entity]]:
        self._unknown: set[str] = set()
        self._replaced = inverted(self._successors())
        for number, line in enumerate(self.source.lines(), 1):
            line = line.removeprefix(BOM) if number == 1 else line
            if not line.strip():
                continue
            try:
                value = parse_object(line)
                entity = self._entity(value, number)
                if value.get("obsolete") is True:
                    self._keep_obsolete(entity, value, number)
                else:
                    yield number, entity
            except LineError as error:
                self.problems.set_aside(tr("the entity {error}", error=error), number)

    def _keep_obsolete(self, entity: Entity, value: Mapping[str, Any], line: int) -> None:
        replaced_by, consider = (self._list(value, key, line) for key in INSTEAD)
        old = ObsoleteEntity(entity.id, entity.name, entity.types, entity.definition, replaced_by, consider)
        keep_obsolete(old, line, self.obsolete, self.problems)

    def _entity(self, value: Mapping[str, Any], line: int) -> Entity:
        for key in value:
            if key not in FIELDS and key not in self._unknown:
                self._unknown.add(key)
                self.problems.note(tr("the field {key!r} is unknown and was ignored", key=key), line)
        entity_id, name = _needed(value, "id"), _needed(value, "name")
        lists = {key: self._list(value, key, line) for key in LISTS}
        lists["synonyms"] = clean_names(lists["synonyms"], besides=name)
        alternates = [*lists["alt_ids"], *self._replaced.get(entity_id, ())]
        lists["alt_ids"] = clean_names(alternates, besides=entity_id)
        if not isinstance(value.get("obsolete") or False, bool):
            self._wrong(entity_id, "obsolete", "true or false", line)
        definition = value.get("definition") or ""
        if not isinstance(definition, str):
            self._wrong(entity_id, "definition", "text", line)
            definition = ""
        return Entity(entity_id, name, definition=plain_text(definition).strip(), **lists)

    def _list(self, value: Mapping[str, Any], key: str, line: int) -> tuple[str, ...]:
        found = value.get(key)
        if found is None or found == "":
            return ()
        if isinstance(found, str):
            text = tr("entity {id}: {key!r} is a single text; it was read as a list", id=value["id"], key=key)
            self.problems.repaired(text, line)
            found = [found]
        if not isinstance(found, list):
            self._wrong(value["id"], key, tr("a list of texts"), line)
            return ()
        texts = [item for item in found if isinstance(item, str)]
        if len(texts) < len(found):
            self._wrong(value["id"], key, tr("a list of texts: its other elements were left out"), line)
        return clean_names(plain_text(text) for text in texts)

    def _wrong(self, entity_id: str, key: str, wanted: str, line: int) -> None:
        self.problems.set_aside(
            tr("entity {entity_id}: {key!r} should be {wanted}", entity_id=entity_id, key=key, wanted=wanted), line
        )


def _only(found: object) -> str:
    """The only string; '' if there are several, or none."""
    texts = {one for one in (found if isinstance(found, list) else [found]) if isinstance(one, str)}
    return plain_text(texts.pop()).strip() if len(texts) == 1 else ""


def _needed(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    if not isinstance(found, str) or not found.strip():
        raise LineError(tr("has no text in {key!r}", key=key))
    return plain_text(found).strip()
