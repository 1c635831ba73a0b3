"""The hierarchy of one knowledge-base version, in its own tables.

`kbN_tree` has a row for each parent and child, numbered in the order of the children's names, so that a page of
children is read without a sort; the parent 0 is above the topmost. `kbN_below` has a row for each entity with children:
their number, and the number of descendants, each counted once. Parents come from the records; if a record has none,
from its tree numbers. A parent may be written in another spelling than its entity's id; unknown parents are skipped. A
cycle that cannot be reached from the top is entered at its first entity, so that every entity with a parent or child is
reached from the top.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache

from sqlalchemy import Connection

from curator.domain.entities import Entity, TreeNode, TreePage
from curator.storage.db.rows import chunks, fold, unique
from curator.storage.kb.kb_matching import active_tables, spelled
from curator.storage.kb.kb_tables import KbTables, parse_entity

TOP = 0
STEP = 5000  # rows between two pauses
MOST_STEPS = 20_000_000
"""The most upward steps for counting descendants (some seconds); beyond it only children are counted."""
MOST_CLIMBED = 1_000_000
"""The most rows of a query for descendants, and entities visited on a path up."""
Parents = dict[int, tuple[int, ...]]


def build_hierarchy(tables: KbTables, *, pause: Callable[[], None]) -> None:
    """Build the tables of a loaded version, replacing remains of a killed process. Waiting writers get turns between
    steps."""
    for table in (tables.below, tables.tree):
        tables.conn.execute(f"DROP TABLE IF EXISTS {table}")
    parents = _parents(tables, pause)
    children = _children(parents)
    tops = _tops(children, parents)
    below = _counted(parents, pause)
    order = _places(tables, {*parents, *tops}, pause)
    tables.conn.execute(
        f"CREATE TABLE {tables.tree} (parent INTEGER, place INTEGER, child INTEGER, PRIMARY KEY (parent, place))"
        " WITHOUT ROWID"
    )
    edges = sorted(
        [(TOP, order[one], one) for one in tops]
        + [(above, order[one], one) for one, aboves in parents.items() for above in aboves]
    )
    for part in chunks(edges, STEP):
        tables.conn.executemany(f"INSERT INTO {tables.tree} VALUES (?, ?, ?)", part)  # noqa: S608
        pause()
    tables.conn.execute(f"CREATE INDEX idx_{tables.tree}_child ON {tables.tree} (child)")
    tables.conn.execute(f"CREATE TABLE {tables.below} (entity INTEGER PRIMARY KEY, children INTEGER, below INTEGER)")
    counts = [(one, len(found), below.get(one) if below is not None else None) for one, found in children.items()]
    tables.conn.executemany(f"INSERT INTO {tables.below} VALUES (?, ?, ?)", counts)  # noqa: S608


def _parents(tables: KbTables, pause: Callable[[], None]) -> Parents:
    """The rows of known parents by row, each once, and never the entity itself."""
    found: defaultdict[int, dict[int, None]] = defaultdict(dict)
    last = tables.conn.execute(f"SELECT max(id) FROM {tables.entities}").fetchone()[0] or 0  # noqa: S608
    query = (
        f"SELECT e.id, j.value, p.id FROM {tables.entities} e, json_each(e.data, '$.parents') j"  # noqa: S608
        f" LEFT JOIN {tables.entities} p ON p.entity_id = j.value WHERE e.id > ? AND e.id <= ?"
    )
    for start in range(0, last, STEP):
        rows = tables.conn.execute(query, (start, start + STEP)).fetchall()
        others = spelled(tables, {name for _, name, parent in rows if parent is None})
        for child, name, known in rows:
            parent = known or others.get(name)
            if parent is not None and child != parent:
                found[child][parent] = None
        pause()
    for child, parent in _by_tree_numbers(tables):
        if child != parent:
            found[child][parent] = None
    return {child: tuple(parents) for child, parents in found.items()}


def _by_tree_numbers(tables: KbTables) -> Iterator[tuple[int, int]]:
    """Child and parent of the entities that have tree numbers and no parents: `C14.280.067` is below `C14.280`, or, if
    that is missing, below `C14`."""
    lone = f'SELECT id, data FROM {tables.entities} WHERE data LIKE \'%"parents":[]%"tree_numbers":["%\''  # noqa: S608
    numbers = {row: json.loads(data)["tree_numbers"] for row, data in tables.conn.execute(lone)}
    wanted = {above for own in numbers.values() for one in own for above in _above(one)}
    if not wanted:
        return
    query = f"SELECT j.value, e.id FROM {tables.entities} e, json_each(e.data, '$.tree_numbers') j"  # noqa: S608
    owners = {number: row for number, row in tables.conn.execute(query) if number in wanted}
    for row, own in numbers.items():
        for one in own:
            nearest = next((owners[above] for above in _above(one) if above in owners), None)
            if nearest is not None:
                yield row, nearest


def _above(number: str) -> list[str]:
    """The tree numbers above one, the nearest first."""
    parts = number.split(".")
    return [".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1)]


def _children(parents: Parents) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for child, aboves in parents.items():
        for one in aboves:
            found.setdefault(one, []).append(child)
    return found


def _tops(children: dict[int, list[int]], parents: Parents) -> list[int]:
    """Entities with children and without parents, and one of each cycle that cannot be reached from these."""
    tops = [one for one in children if one not in parents]
    reached: set[int] = set()
    _reach(tops, children, reached)
    for one in sorted(parents):
        if one not in reached:
            tops.append(one)
            _reach([one], children, reached)
    return tops


def _reach(starts: Sequence[int], children: dict[int, list[int]], reached: set[int]) -> None:
    waiting = list(starts)
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += children.get(one, ())


def _counted(parents: Parents, pause: Callable[[], None]) -> dict[int, int] | None:
    """The number of descendants of each; None if that takes too long."""
    found: defaultdict[int, int] = defaultdict(int)
    steps = paused = 0
    for child, aboves in parents.items():
        seen, waiting = {child}, list(aboves)
        while waiting:
            one = waiting.pop()
            steps += 1
            if one not in seen:
                seen.add(one)
                found[one] += 1
                waiting += parents.get(one, ())
            if steps > MOST_STEPS:
                return None
        if steps - paused > 40 * STEP:
            paused = steps
            pause()
    return found


def _places(tables: KbTables, rows: Collection[int], pause: Callable[[], None]) -> dict[int, int]:
    """The position of each of these rows in the order of all names."""
    named: list[tuple[str, int]] = []
    for part in chunks(sorted(rows)):
        marks = ",".join("?" * len(part))
        query = f"SELECT name, id FROM {tables.entities} WHERE id IN ({marks})"  # noqa: S608
        named += [(fold(name), row) for name, row in tables.conn.execute(query, list(part))]
    pause()
    return {row: place for place, (_, row) in enumerate(sorted(named))}


@lru_cache(maxsize=8)
def _kept(path: str, tree: str, content_hash: str, branches: tuple[str, ...]) -> list[frozenset[int]]:  # noqa: ARG001
    """A cache for the rows of branches of a version, which are needed for each key of a search."""
    return []


def rows_below(tables: KbTables, branches: Collection[str], *, content_hash: str) -> frozenset[int]:
    """The rows of the branches and their descendants."""
    path = str(tables.conn.execute("PRAGMA database_list").fetchone()[2])
    kept = _kept(path, tables.tree, content_hash, tuple(sorted(branches)))
    if not kept:
        kept.append(frozenset(_rows_below(tables, branches)))
    return kept[0]


def _rows_below(tables: KbTables, branches: Collection[str]) -> set[int]:
    found, level = set[int](), set(_rows(tables, branches).values())
    while level:
        found |= level
        below: set[int] = set()
        for part in chunks(sorted(level)):
            marks = ",".join("?" * len(part))
            query = f"SELECT child FROM {tables.tree} WHERE parent IN ({marks})"  # noqa: S608
            below.update(one for (one,) in tables.conn.execute(query, list(part)))
        level = below - found
    return found


class KbHierarchy:
    """The part of `SqlKnowledgeBase` for broader and narrower entities."""

    def __init__(self, conn: Connection) -> None:
        self.__conn = conn

    def narrower(self, entity_id: str | None, *, start: int = 0, count: int) -> TreePage:
        """Entities directly below one, or, for None, the topmost ones that have children, in the order of their names:
        `count` after the first `start`."""
        tables, row = self.__row(entity_id)
        if tables is None or row is None:
            return TreePage((), 0)
        total = tables.conn.execute(f"SELECT count(*) FROM {tables.tree} WHERE parent = ?", (row,)).fetchone()[0]  # noqa: S608
        query = f"SELECT child FROM {tables.tree} WHERE parent = ? ORDER BY place LIMIT ? OFFSET ?"  # noqa: S608
        rows = [one for (one,) in tables.conn.execute(query, (row, count, start))]
        return TreePage(tuple(_nodes(tables, rows)), total)

    def broader(self, entity_id: str) -> list[TreeNode]:
        """Entities directly above one, in the order of their names; unknown parents are left out."""
        tables, row = self.__row(entity_id)
        if tables is None or row is None:
            return []
        query = f"SELECT parent FROM {tables.tree} WHERE child = ? AND parent > {TOP} ORDER BY parent"  # noqa: S608
        found = _nodes(tables, [one for (one,) in tables.conn.execute(query, (row,))])
        return sorted(found, key=lambda node: fold(node.entity.name))

    def tree_node(self, entity_id: str) -> TreeNode | None:
        """An entity of the active version by its primary id."""
        tables, row = self.__row(entity_id)
        return next(iter(_nodes(tables, [row])), None) if tables is not None and row is not None else None

    def parents(self, entity_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Primary ids of the entities directly above these; those without parents are absent."""
        tables = active_tables(self.__conn)
        if tables is None:
            return {}
        found: defaultdict[str, list[str]] = defaultdict(list)
        for part in chunks(unique(entity_ids)):
            marks = ",".join("?" * len(part))
            query = (
                f"SELECT e.entity_id, p.entity_id FROM {tables.entities} e JOIN {tables.tree} t ON t.child = e.id"  # noqa: S608
                f" JOIN {tables.entities} p ON p.id = t.parent WHERE e.entity_id IN ({marks})"
            )
            for child, parent in tables.conn.execute(query, list(part)):
                found[child].append(parent)
        return {child: tuple(above) for child, above in found.items()}

    def way_down(self, entity_id: str) -> list[str]:
        """Ids from a topmost entity down to this one by the shortest path; only its own id if it has no parents, none
        if it is unknown."""
        tables, row = self.__row(entity_id)
        way = _way_down(tables, row) if tables is not None and row is not None else []
        ids = dict(_by_row(tables, "id, entity_id", way)) if tables is not None else {}
        return [ids[one] for one in way]

    def below(self, branches: Collection[str], entity_ids: Collection[str]) -> set[str]:
        """The entities among these that are in `branches` or below one of them."""
        tables = active_tables(self.__conn)
        wanted = set(branches)
        found = wanted.intersection(entity_ids)
        if tables is None or not wanted:
            return found
        above = set(_rows(tables, wanted).values())
        for part in chunks(list(_rows(tables, set(entity_ids) - found).items()), 100):
            rows = {row: entity_id for entity_id, row in part}
            marks = ",".join(f"({one})" for one in rows)
            query = (
                f"WITH RECURSIVE up (start, at) AS (SELECT column1, column1 FROM (VALUES {marks})"  # noqa: S608
                f" UNION SELECT start, parent FROM up JOIN {tables.tree} ON child = at WHERE parent > {TOP}"
                f" LIMIT {MOST_CLIMBED}) SELECT start, at FROM up"
            )
            found.update(rows[start] for start, at in tables.conn.execute(query) if at in above)
        return found

    def __row(self, entity_id: str | None) -> tuple[KbTables | None, int | None]:
        """The row of an entity, or of the top for None; no tables without a knowledge base."""
        tables = active_tables(self.__conn)
        if tables is None:
            return None, None
        return tables, TOP if entity_id is None else _rows(tables, [entity_id]).get(entity_id)


def _rows(tables: KbTables, entity_ids: Collection[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in chunks(unique(entity_ids)):
        marks = ",".join("?" * len(part))
        query = f"SELECT entity_id, id FROM {tables.entities} WHERE entity_id IN ({marks})"  # noqa: S608
        found.update(tables.conn.execute(query, list(part)).fetchall())
    return found


def _by_row(tables: KbTables, what: str, rows: Sequence[int]) -> Iterator[tuple[int, str]]:
    for part in chunks(rows):
        marks = ",".join("?" * len(part))
        yield from tables.conn.execute(f"SELECT {what} FROM {tables.entities} WHERE id IN ({marks})", list(part))  # noqa: S608


def _nodes(tables: KbTables, rows: Sequence[int]) -> list[TreeNode]:
    """Nodes in the order of the rows."""
    entities: dict[int, Entity] = {row: parse_entity(data) for row, data in _by_row(tables, "id, data", rows)}
    counts: dict[int, tuple[int, int | None]] = {}
    for part in chunks(rows):
        marks = ",".join("?" * len(part))
        query = f"SELECT entity, children, below FROM {tables.below} WHERE entity IN ({marks})"  # noqa: S608
        counts.update((row, (children, below)) for row, children, below in tables.conn.execute(query, list(part)))
    return [TreeNode(entities[row], *counts.get(row, (0, 0))) for row in rows if row in entities]


def _way_down(tables: KbTables, row: int) -> list[int]:
    """The shortest path from a topmost entity down to this one; only itself if it is in no hierarchy."""
    came: dict[int, int] = {}  # entity -> the one below it
    level = [row]
    while level and len(came) < MOST_CLIMBED:
        following: list[int] = []
        for part in chunks(level):
            marks = ",".join("?" * len(part))
            query = f"SELECT child, parent FROM {tables.tree} WHERE child IN ({marks}) ORDER BY child, parent"  # noqa: S608
            for child, parent in tables.conn.execute(query, list(part)):
                if parent == TOP:
                    return _back(came, child, row)
                if parent not in came and parent != row:
                    came[parent] = child
                    following.append(parent)
        level = following
    return [row]


def _back(came: dict[int, int], top: int, row: int) -> list[int]:
    way = [top]
    while way[-1] != row:
        way.append(came[way[-1]])
    return way
