"""The tables of one knowledge-base version: created when loading begins, dropped as a whole.

Separate tables keep a version invisible until it is active, and make its removal fast. sqlite-utils creates them; they
are loaded with plain statements, which takes half the time. `kb_index` builds the full-text index over names after
loading, and `kb_search` queries it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, cast

from sqlalchemy import Connection

from curator.domain.curies import look_up_key
from curator.domain.entities import Entity, KnowledgeSource, ObsoleteEntity
from curator.domain.wording import UserError, tr
from curator.storage.db.columns import entity_of, json_of
from curator.storage.db.rows import chunks, fold

if TYPE_CHECKING:
    from sqlite_utils import Database

# Look-up keys of ids, in the form of `look_up_key`: whole, or without prefix as in corpora; primary before alternate.
PRIMARY, ALTERNATE, BARE_PRIMARY, BARE_ALTERNATE = range(4)
NAME, SYNONYM = range(2)

_FIELDS = tuple(field.name for field in fields(Entity))
_TOKENIZE = "unicode61 remove_diacritics 2"


SHELF = "curator_shelf"
"""The option of a connection to a shared project with this computer's copies of its knowledge bases, see
`local_copy`."""


def tables_of(conn: Connection, version: int) -> KbTables:
    """The tables of a version that is active or being loaded: in the database itself, or, for a shared project, on the
    shelf."""
    shelf = conn.get_execution_options().get(SHELF)
    if shelf is not None:
        found: KbTables = shelf.tables(conn, version)
        return found
    return KbTables(cast(sqlite3.Connection, conn.connection.dbapi_connection), version)


class KbTables:
    """The tables `kbN_*` of version N on a connection that is inside a transaction."""

    def __init__(self, conn: sqlite3.Connection, version: int) -> None:
        self.conn = conn
        self.entities = f"kb{version}_entities"
        self.names = f"kb{version}_names"
        self.ids = f"kb{version}_ids"
        self.types = f"kb{version}_types"
        self.search = f"kb{version}_search"  # see `kb_index`, as the next
        self.words = f"kb{version}_words"
        self.definitions_fts = f"kb{version}_definitions_fts"
        self.obsolete = f"kb{version}_obsolete"  # see `kb_matching`; only if a source has some
        self.tree = f"kb{version}_tree"  # see `kb_hierarchy`, like the next
        self.below = f"kb{version}_below"

    def create(self) -> None:
        """Create the tables for loading; `index_names` follows after all names."""
        db = self._database()
        db[self.entities].create({"id": int, "entity_id": str, "name": str, "data": str}, pk="id")
        db[self.entities].create_index(["entity_id"], unique=True)
        columns = {"id": int, "entity": int, "kind": int, "length": int, "name": str, "folded": str}
        db[self.names].create(columns, pk="id")
        for statement in (
            f"CREATE TABLE {self.ids} (key TEXT, tier INTEGER, entity INTEGER, PRIMARY KEY (key, tier, entity))"
            " WITHOUT ROWID",
            f"CREATE TABLE {self.types} (entity INTEGER, type TEXT, PRIMARY KEY (entity, type)) WITHOUT ROWID",
            f"CREATE VIRTUAL TABLE {self.definitions_fts} USING fts5 (definition, content = '',"
            f" tokenize = '{_TOKENIZE}')",
        ):
            self.conn.execute(statement)

    def index_names(self) -> None:
        """Build the index of names: sorting millions of names once takes a tenth of the time of inserting each in
        order."""
        for columns in ("folded, kind, length, entity", "length, kind, folded, entity"):
            name = f"idx_{self.names}_{columns.replace(', ', '_')}"
            self.conn.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {self.names} ({columns})")

    def keep_obsolete(self, source: str, entities: Sequence[ObsoleteEntity]) -> None:
        """Called after obsolete entities were added; does nothing here."""

    def begin_writing(self) -> None:
        """Called before writing statements; does nothing here."""

    def finish(self, content_hash: str) -> None:
        """Called when everything is loaded; does nothing here."""

    def drop(self) -> None:
        indexes = (self.words, self.search, self.definitions_fts, self.below, self.tree)
        for table in (*indexes, self.obsolete, self.types, self.ids, self.names, self.entities):
            self.conn.execute(f"DROP TABLE IF EXISTS {table}")

    def load(self, entities: Sequence[Entity]) -> None:
        """Load entities. Raises UserError for a duplicate id."""
        self._refuse_duplicates([entity.id for entity in entities])
        numbered = list(enumerate(entities, start=self._next(self.entities)))
        self._insert(self.entities, 4, [(n, e.id, e.name, canonical_json(e)) for n, e in numbered])
        self._insert(self.ids, 3, sorted({key for n, entity in numbered for key in _keys(n, entity)}))
        types = [(n, type_) for n, entity in numbered for type_ in dict.fromkeys(entity.types)]
        self._insert(self.types, 2, types)
        self._insert(self.names, 6, self._names(numbered))
        definitions = [(n, fold(entity.definition)) for n, entity in numbered if entity.definition]
        self.conn.executemany(
            f"INSERT INTO {self.definitions_fts} (rowid, definition) VALUES (?, ?)",  # noqa: S608
            definitions,
        )

    def content_hash(self) -> str:
        """SHA-256 over the canonical JSON of all entities, one per line, ordered by id."""
        digest = hashlib.sha256()
        for (data,) in self.conn.execute(f"SELECT data FROM {self.entities} ORDER BY entity_id"):  # noqa: S608
            digest.update(data.encode())
            digest.update(b"\n")
        return digest.hexdigest()

    def type_names(self) -> list[str]:
        rows = self.conn.execute(f"SELECT DISTINCT type FROM {self.types} ORDER BY type")  # noqa: S608
        return [type_ for (type_,) in rows]

    def all(self) -> Iterator[Entity]:
        """Every entity in the order of loading."""
        for (data,) in self.conn.execute(f"SELECT data FROM {self.entities} ORDER BY id"):  # noqa: S608
            yield parse_entity(data)

    def _names(self, numbered: Sequence[tuple[int, Entity]]) -> list[tuple[int, int, int, int, str, str]]:
        names = (
            (n, kind, name)
            for n, entity in numbered
            for kind, group in ((NAME, (entity.name,)), (SYNONYM, entity.synonyms))
            for name in group
        )
        folded = ((n, kind, name, fold(name)) for n, kind, name in names)
        first = self._next(self.names)
        return [(i, n, kind, len(key), name, key) for i, (n, kind, name, key) in enumerate(folded, start=first)]

    def _insert(self, table: str, columns: int, rows: Sequence[tuple[object, ...]]) -> None:
        marks = ", ".join("?" * columns)
        self.conn.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608

    def _refuse_duplicates(self, ids: Sequence[str]) -> None:
        repeated = [entity_id for entity_id, n in Counter(ids).items() if n > 1]
        for part in chunks(ids):
            marks = ",".join("?" * len(part))
            query = f"SELECT entity_id FROM {self.entities} WHERE entity_id IN ({marks})"  # noqa: S608
            repeated += [entity_id for (entity_id,) in self.conn.execute(query, list(part))]
        if repeated:
            raise UserError(
                tr(
                    "The knowledge base has the id {repeated} more than once. Merge or rename these entities "
                    "and import the file again.",
                    repeated=repeated[0],
                )
            )

    def _next(self, table: str) -> int:
        newest = self.conn.execute(f"SELECT max(id) FROM {table}").fetchone()[0]  # noqa: S608
        return (newest or 0) + 1

    def _database(self) -> Database:
        from sqlite_utils import Database  # importing it takes longer than everything else for opening a project

        return Database(self.conn, recursive_triggers=False, execute_plugins=False)


def canonical_json(entity: Entity) -> str:
    """The stored and hashed form: all fields, keys sorted, no spaces, Unicode unescaped."""
    return json.dumps(
        {name: getattr(entity, name) for name in _FIELDS}, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )


def parse_entity(data: str) -> Entity:
    return json_of(entity_of, data, "entities", "data")


def bare(key: str) -> str:
    """The key without its prefix; '' if it has none."""
    return "" if "://" in key else key.partition(":")[2].strip()


def _keys(number: int, entity: Entity) -> Iterator[tuple[str, int, int]]:
    for ids, tier, bare_tier in (((entity.id,), PRIMARY, BARE_PRIMARY), (entity.alt_ids, ALTERNATE, BARE_ALTERNATE)):
        for entity_id in ids:
            yield (key := look_up_key(entity_id)), tier, number
            if local := bare(key):
                yield local, bare_tier, number


def own_keys(number: int, entity: Entity, source: KnowledgeSource) -> Iterator[tuple[str, int, int]]:
    """The keys of an entity's ids without prefix as ids of their vocabulary, see `KnowledgeSource`."""
    prefix = source.vocabulary_of(entity.types)
    for ids, tier in (((entity.id,), PRIMARY), (entity.alt_ids, ALTERNATE)):
        for entity_id in ids:
            if prefix and ":" not in entity_id:
                yield look_up_key(f"{prefix}:{entity_id}"), tier, number
