"""Rooms: a folder with one subject and a face, `__init__.py`, by which the others know it."""

from __future__ import annotations

import ast
import importlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType

import pytest

from tests.test_architecture import imports, modules, name_of

FEWEST, MOST = 5, 18
LONGEST, SHORT = 400, 80

# packages whose modules others name, with the reason
ENTERED = {
    "curator": "`bootstrap` alone joins the packages",
    "curator.cli": "`main` is the entrance",
    "curator.domain": "each module holds the words of one subject, and nothing behind them",
    "curator.io": "`eutils` is there with the project, the formats come with the first file",
    "models": "`types` and `errors` load neither torch nor NumPy, as a room with a network would",
    "resources": "`recipe_files` alone is code",
}
# what holds rooms or stands alone is no room, however few its modules are
SMALL = {
    "curator": "the packages",
    "curator.io": "rooms, and what joins them",
    "curator.services": "rooms",
    "curator.settings": "the schema and its file",
    "curator.storage": "rooms, and what joins them",
    "curator.ui": "rooms",
    "models": "rooms, and what they all speak in",
    "resources": "data",
    "resources.demo": "data",
    "training": "rooms",
}
# short and used once, but what somebody would look for by its name: see `test_no_fragments`
THINGS = {
    "curator.io.files.archive_writing",
    "curator.io.kb.medic",
    "curator.settings.opinion_options",
    "curator.services.core.pace",
    "curator.storage.kb.kb_fuzzy",
    "curator.ui.opinions.prompt_dialog",
    "curator.ui.people.i_am",
    "curator.ui.queue.document_header",
    "curator.ui.training.detect",
    "curator.ui.training.error_flows",
    "models.encoders.int8",
    "models.linker.retrieving",
    "models.names.bm25",
    "training.losses.nce",
    "training.losses.prototype",
    "training.losses.triplet",
    "training.negatives.choice",
    "training.negatives.uniform",
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


def test_a_room_is_seen_at_a_glance() -> None:
    sizes = Counter(room_of(module) for module in sources())
    wrong = {room: size for room, size in sizes.items() if size > MOST or (size < FEWEST and room not in SMALL)}
    assert not wrong, wrong


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


def test_no_module_is_long() -> None:
    long = {module: len(lines) for module, lines in sources().items() if len(lines) > LONGEST}
    assert not long, long


def test_no_fragments() -> None:
    """A short module that one other uses joins it, unless it is a thing in its own right: then name it in THINGS."""
    users = defaultdict[str, set[str]](set)
    for path in modules():
        if path.name != "__init__.py":
            for _, target in imports(path):
                parent, _, name = target.rpartition(".")
                users[shown().get((parent, name), target if target in sources() else parent)].add(name_of(path))
    fragments = {
        module
        for module, lines in sources().items()
        if module not in rooms() and len(lines) < SHORT and len(users[module] - {module}) == 1
    }
    assert fragments == THINGS, (sorted(fragments - THINGS), sorted(THINGS - fragments))
