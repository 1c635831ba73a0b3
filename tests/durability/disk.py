"""What a disk may hold after the power failed: a model of a file system, and images made from a record of calls.

A file's writes and cuts are certain from the next `fsync` or `fdatasync` of that file; names (created, renamed,
removed) from the next `fsync` of their folder. Until then the disk may hold any of them and lack any of them, in any
order, and writes cut at the borders of sectors. This is stricter than ext4, XFS or APFS, which keep the order of names.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.durability.shim import Call, Kind

SECTOR = 512
Tree = dict[str, "bytes | None"]
"""Relative path → content; None for a folder."""


def read_tree(folder: Path) -> Tree:
    """All below `folder` but SQLite's shared memory."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        if not path.name.endswith("-shm"):
            found[path.relative_to(folder).as_posix()] = None if path.is_dir() else path.read_bytes()
    return found


def write_tree(tree: Mapping[str, bytes | None], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in sorted(tree.items()):
        path = folder / name
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


@dataclass(slots=True, eq=False)
class Node:
    """A file with its certain content and the changes that are not certain, or, with `is_folder`, a folder."""

    is_folder: bool
    content: bytes = b""
    changes: list[Call] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Naming:
    """`removed` names go and `added` ones come, in one step."""

    removed: tuple[tuple[Node, str], ...]
    added: tuple[tuple[Node, str, Node], ...]

    def folders(self) -> set[Node]:
        return {folder for folder, _ in self.removed} | {folder for folder, _, _ in self.added}


def applied(content: bytes, changes: Sequence[Call]) -> bytes:
    """A file after some of its changes; what was never written reads as zeros."""
    now = bytearray(content)
    for one in changes:
        if one.kind is Kind.WRITE:
            if one.offset > len(now):
                now.extend(bytes(one.offset - len(now)))
            now[one.offset : one.offset + len(one.data)] = one.data
        elif one.kind is Kind.STREAM:
            now[:] = one.data
        else:  # cut, or resized
            size = one.offset if one.kind is Kind.RESIZE else 0
            del now[size:]
            now.extend(bytes(size - len(now)))
    return bytes(now)


class Disk:
    """Replays calls on `tree`, the content of the folder `root`, and keeps what is not certain yet."""

    def __init__(self, root: str, tree: Mapping[str, bytes | None]) -> None:
        self._root = root
        self.top = Node(is_folder=True)
        self._live: dict[tuple[Node, str], Node] = {}
        self.certain: dict[tuple[Node, str], Node] = {}
        self.namings: list[Naming] = []
        for name, content in sorted(tree.items()):
            folder, last = self._place(f"{root}/{name}")
            self._live[folder, last] = Node(content is None, content or b"")
        self.certain = dict(self._live)

    def take(self, call: Call) -> None:
        """Raises KeyError for a call on a file whose making was not recorded."""
        kind = call.kind
        if kind in (Kind.WRITE, Kind.RESIZE, Kind.CUT, Kind.STREAM):
            if not call.path.endswith(" (deleted)"):
                self._file(call).changes.append(call)
        elif kind is Kind.SYNC:
            if not call.path.endswith(" (deleted)"):
                self._sync(self._node(call.path))
        elif kind in (Kind.CREATE, Kind.MKDIR):
            self._name(Naming((), ((*self._place(call.path), Node(kind is Kind.MKDIR)),)))
        elif kind in (Kind.UNLINK, Kind.RMDIR):
            self._name(Naming((self._place(call.path),), ()))
        elif kind is Kind.RENAME:
            old, new = self._place(call.path), self._place(call.other)
            self._name(Naming((old,), ((*new, self._live[old]),)))
        elif kind is Kind.LINK:
            self._name(Naming((), ((*self._place(call.other), self._node(call.path)),)))

    def now(self, part: Call | None = None) -> Tree:
        """The tree as running programs see it, and after the end of a process; with the write `part` as well."""
        changes = self.pending()
        if part is not None and not part.path.endswith(" (deleted)"):
            changes = [*changes, (self._node(part.path), part)]
        return self.image(namings=self.namings, changes=changes)

    def pending(self) -> list[tuple[Node, Call]]:
        """Changes of files that are not certain, and what they belong to, in no order across files."""
        nodes = {node: None for node in (*self.certain.values(), *self._live.values()) if not node.is_folder}
        for naming in self.namings:
            nodes |= {node: None for _, _, node in naming.added if not node.is_folder}
        return [(node, change) for node in nodes for change in node.changes]

    def image(self, *, namings: Sequence[Naming], changes: Sequence[tuple[Node, Call]]) -> Tree:
        """The tree if of what is not certain exactly these are on the disk; a change may be a part of a write."""
        names = dict(self.certain)
        for one in namings:
            _apply(names, one)
        kept: dict[Node, list[Call]] = {}
        for node, change in changes:
            kept.setdefault(node, []).append(change)
        tree: Tree = {}
        waiting = [(self.top, "")]
        while waiting:
            folder, path = waiting.pop()
            for (parent, name), node in names.items():
                if parent is folder:
                    where = f"{path}{name}"
                    if node.is_folder:
                        tree[where] = None
                        waiting.append((node, f"{where}/"))
                    else:
                        tree[where] = applied(node.content, kept.get(node, ()))
        return tree

    def _name(self, naming: Naming) -> None:
        _apply(self._live, naming)
        self.namings.append(naming)

    def _sync(self, node: Node) -> None:
        if not node.is_folder:
            node.content, node.changes = applied(node.content, node.changes), []
            return
        for one in [one for one in self.namings if node in one.folders()]:
            _apply(self.certain, one)
            self.namings.remove(one)

    def _file(self, call: Call) -> Node:
        """Streams make their files inside the C library."""
        if call.kind is Kind.STREAM and self._place(call.path) not in self._live:
            self._name(Naming((), ((*self._place(call.path), Node(is_folder=False)),)))
        return self._node(call.path)

    def _node(self, path: str) -> Node:
        return self.top if path == self._root else self._live[self._place(path)]

    def _place(self, path: str) -> tuple[Node, str]:
        *folders, name = [part for part in path.removeprefix(self._root).split("/") if part not in ("", ".")]
        node = self.top
        for folder in folders:
            node = self._live[node, folder]
        return node, name


def _apply(names: dict[tuple[Node, str], Node], naming: Naming) -> None:
    for folder, name, node in naming.added:
        names[folder, name] = node
    for folder, name in naming.removed:
        if all((folder, name) != (new, called) for new, called, _ in naming.added):
            names.pop((folder, name), None)


def images(disk: Disk, chance: random.Random, *, many: int) -> Iterator[Tree]:
    """At most about `many` images of a disk whose power fails now: everything dropped, everything kept, names or
    content alone, one change dropped or alone, the last writes torn, and random choices of all these."""
    changes, namings = disk.pending(), list(disk.namings)
    yield disk.image(namings=namings, changes=changes)
    if not changes and not namings:
        return
    yield disk.image(namings=(), changes=())
    yield disk.image(namings=namings, changes=())
    yield disk.image(namings=(), changes=changes)
    for which in _some(len(changes), chance):
        yield disk.image(namings=namings, changes=[one for i, one in enumerate(changes) if i != which])
        yield disk.image(namings=namings, changes=[*changes[:which], *_torn(changes[which], chance)])
        yield disk.image(namings=namings, changes=[changes[which]])
    for which in _some(len(namings), chance):
        yield disk.image(namings=[one for i, one in enumerate(namings) if i != which], changes=changes)
        yield disk.image(namings=[namings[which]], changes=changes)
    for _ in range(many):
        some = [one for one in changes if chance.random() < 0.6]
        torn = [part for one in some for part in (_torn(one, chance) if chance.random() < 0.3 else [one])]
        yield disk.image(namings=[one for one in namings if chance.random() < 0.7], changes=torn)


def _some(count: int, chance: random.Random) -> list[int]:
    """The last two and a random one."""
    last = [count - 1, count - 2, chance.randrange(count)] if count else []
    return sorted({one for one in last if one >= 0})


def _torn(change: tuple[Node, Call], chance: random.Random) -> list[tuple[Node, Call]]:
    """Some of the sectors of a write, those at its start more often; a cut is dropped."""
    node, call = change
    if call.kind is not Kind.WRITE:
        return []
    borders = [0, *range(SECTOR - call.offset % SECTOR, len(call.data), SECTOR), len(call.data)]
    pieces = list(itertools.pairwise(borders))
    if chance.random() < 0.5:  # a prefix
        pieces = pieces[: chance.randrange(len(pieces))] if len(pieces) > 1 else []
    else:
        pieces = [one for one in pieces if chance.random() < 0.5]
    return [
        (node, Call(Kind.WRITE, call.number, call.path, offset=call.offset + a, data=call.data[a:b])) for a, b in pieces
    ]
