"""Rooms: a folder with one subject and a face, `__init__.py`, by which the others know it."""

from __future__ import annotations

import ast
import importlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType

import pytest

from tests.test_architecture import imports, modules, name_of

# packages whose modules others name, with the reason
ENTERED = {
    "curator": "`bootstrap` alone joins the packages",
    "curator.cli": "`main` is the entrance",
    "curator.domain": "each module holds the words of one subject, and nothing behind them",
    "curator.io": "`eutils` is there with the project, the formats come with the first file",
    "models": "`types` and `errors` load neither torch nor NumPy, as a room with a network would",
    "resources": "`recipe_files` alone is code",
}


@cache
def sources() -> Mapping[str, list[str]]:
    return {name_of(path): path.read_text(encoding="utf-8").splitlines() for path in modules()}


@cache
def rooms() -> frozenset[str]:
    return frozenset(name_of(path) for path in modules() if path.name == "__init__.py")


def room_of(module: str) -> str:
    return module if module in rooms() else module.rpartition(".")[0]


@cache
def shown() -> Mapping[tuple[str, str], str]:
    """(room, name) → the module that the room's face takes the name from."""
    found: dict[tuple[str, str], str] = {}
    for path in modules():
        if path.name == "__init__.py":
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module:
                    found |= {(name_of(path), one.asname or one.name): node.module for one in node.names}
    return found


def used() -> Iterator[tuple[str, int, str]]:
    """Module, line, and the module of ours that it names there; a name of a face stands for the face."""
    for path in modules():
        for line, target in imports(path):
            parent, _, name = target.rpartition(".")
            known = target in sources() and (parent, name) not in shown()
            if known or parent in sources():
                yield name_of(path), line, target if known else parent


def test_rooms_are_entered_by_their_faces() -> None:
    wrong = {
        f"{module}:{line} reaches into {target}"
        for module, line, target in used()
        if target not in rooms()
        and (room := room_of(target)) not in ENTERED
        and room_of(module) != room
        and not room.startswith(f"{module}.")  # a package's own face
    }
    assert not wrong, "\n".join(sorted(wrong))


def test_rooms_form_no_circle() -> None:
    """Not even by imports within functions or for types."""
    leads = defaultdict[str, set[str]](set)
    for module, _, target in used():
        here, there = room_of(module), room_of(target)
        if here != there and not {here, there} & {"curator", *ENTERED} and not there.startswith(f"{here}."):
            leads[here].add(there)
    while ends := [one for one in leads if not leads[one] & leads.keys()]:
        for one in ends:
            del leads[one]
    assert not leads, dict(leads)


def test_a_face_says_what_lives_there() -> None:
    silent = [room for room in rooms() if not sources()[room] or not sources()[room][0].startswith('"""')]
    assert not silent


@pytest.mark.parametrize("room", sorted(room for room in rooms() if room.startswith("curator.")))
def test_a_face_has_what_it_names(room: str) -> None:
    """Those that load late have each name twice; what stands for one of their modules would hide the name."""
    face = importlib.import_module(room)
    taken = {name for (where, name), module in shown().items() if where == room and module.startswith(f"{room}.")}
    if hasattr(face, "__getattr__"):
        assert taken == set(face.__all__)
    assert not [name for name in taken if isinstance(getattr(face, name, None), ModuleType)]
