"""A command: its texts and keys, when it is enabled, and its handler."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any, Generic, TypeVar
from weakref import ref

from curator.domain.wording import tr

T = TypeVar("T")


class Menu(StrEnum):
    """Menus in the order of the menu bar."""

    PROJECT = "Project"
    EDIT = "Edit"
    MENTION = "Mention"
    ANNOTATE = "Annotate"
    QUEUE = "Queue"
    PEOPLE = "People"
    MODEL = "Model"
    TOOLS = "Tools"
    VIEW = "View"
    HELP = "Help"


ON_THE_PROJECT = {Menu.EDIT, Menu.MENTION, Menu.ANNOTATE, Menu.QUEUE}
"""Menus whose commands act on the project's mentions and documents."""


@dataclass(frozen=True, slots=True)
class WindowState:
    """The state of the window; `enabled` of every command depends only on it."""

    project: bool = False
    writable: bool = False
    knowledge_base: bool = False
    document: bool = False
    mention: bool = False
    decided: bool = False  # the current mention has a decision
    complete: bool = False  # every mention of the document has one; it is not marked as done
    candidates: int = 0  # of the current mention
    nil_suggested: bool = False  # Return accepts NIL
    shuffled: bool = False  # candidates are shuffled, so that Return accepts none
    selection: bool = False
    can_undo: bool = False
    can_redo: bool = False
    job_running: bool = False
    importing: bool = False  # an import is running; an index may be built at the same time
    interrupted: bool = False  # a training can be resumed
    judging: bool = False  # decisions are judgements in a round
    drafting: bool = False  # the form of a new entity is shown for the current mention
    verdicts: int = 0  # the number of verdicts with a digit key, while their list is focused
    unread: int = 0  # results of background work not shown yet
    conflicts: int = 0  # decisions of others that differ from the curator's
    results: bool = False  # a read one can be shown, too


def always(_: WindowState) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Command(Generic[T]):
    """An action of the window; `run` gets the object registered with `Commands` that performs it.

    `help` is the manual's sentence. `shortcuts` are in Qt's portable text; the first is shown in the menu.
    """

    id: str
    title: str
    menu: Menu
    help: str
    run: Callable[[T], object]
    shortcuts: tuple[str, ...] = ()
    _: KW_ONLY
    when: Callable[[WindowState], bool] = always
    group: int = 0  # of its menu: groups are ordered by number, with a line between them
    after: str = ""  # the command in its group after which it is listed; '' for its feature's position
    hidden: bool = False  # not in a menu (digit keys)
    repeats: bool = False  # repeats while its key is held; a decision is made once per press
    in_rounds: bool = False  # in Edit, Mention and Queue: it judges or only reads, so that it stays enabled in rounds

    def enabled(self, state: WindowState) -> bool:
        """Whether it can be used now. In a round, commands that act on the project or show its decisions are
        disabled."""
        if state.judging and self.menu in ON_THE_PROJECT and not self.in_rounds:
            return False
        return self.when(state)


def in_menu_order(features: Iterable[Iterable[Command[Any]]]) -> tuple[Command[Any], ...]:
    """All commands, menu by menu and group by group, in the order of the features."""
    menus, every = list(Menu), [command for feature in features for command in feature]
    place = {command.id: at for at, command in enumerate(every)}
    return tuple(
        sorted(every, key=lambda one: (menus.index(one.menu), one.group, place[one.after or one.id], bool(one.after)))
    )


class Commands:
    """The objects that perform the commands of one window.

    It keeps only weak references: a feature is deleted with its project, and its commands are disabled.
    """

    def __init__(self) -> None:
        self._runs: dict[str, Callable[[], None]] = {}

    def register(self, commands: Iterable[Command[T]], by: T) -> None:
        """From now on `by` performs these commands."""
        there = ref(by)
        for command in commands:
            self._runs[command.id] = partial(_run, command, there)

    def run(self, command: Command[Any]) -> None:
        self._runs[command.id]()

    def __contains__(self, command: Command[Any]) -> bool:
        return command.id in self._runs


def _run(command: Command[T], there: ref[T]) -> None:
    by = there()
    if by is not None:
        command.run(by)


# The keys of a command: the default keys, or keys assigned by the user.


@dataclass(frozen=True, slots=True)
class Keymap:
    """`changed`: command id -> its keys in Qt's portable text, for commands whose keys differ from the defaults.

    Ids of unknown (or removed) commands are kept and have no effect.
    """

    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def keys(self, command: Command[Any]) -> tuple[str, ...]:
        """All keys of a command; the first is shown in the menu."""
        return self.changed.get(command.id, command.shortcuts)

    def users(self, key: str, among: Iterable[Command[Any]], *, besides: str = "") -> list[Command[Any]]:
        """The commands with this key, except the command `besides`."""
        return [one for one in among if key in self.keys(one) and one.id != besides]

    def conflicts(self, among: Iterable[Command[Any]]) -> dict[str, list[Command[Any]]]:
        """Keys that several commands have; such a key has no effect."""
        users: defaultdict[str, list[Command[Any]]] = defaultdict(list)
        for command in among:
            for key in self.keys(command):
                users[key].append(command)
        return {key: commands for key, commands in users.items() if len(commands) > 1}

    def with_keys(self, command: Command[Any], keys: Sequence[str]) -> Keymap:
        """A copy in which the command has these keys; its default keys are not stored."""
        changed = {name: kept for name, kept in self.changed.items() if name != command.id}
        if tuple(keys) != command.shortcuts:
            changed[command.id] = tuple(keys)
        return Keymap(changed)

    def taking(self, command: Command[Any], key: str, among: Iterable[Command[Any]]) -> Keymap:
        """A copy in which the key is this command's first key and no other command has it."""
        result = self
        for other in self.users(key, among, besides=command.id):
            result = result.with_keys(other, [one for one in self.keys(other) if one != key])
        return result.with_keys(command, [key, *(one for one in result.keys(command) if one != key)])


# Why a command is disabled now, found by trying the changes that would enable it.

NEEDS: tuple[tuple[str, Any, str], ...] = (
    ("writable", True, "The project is open read-only."),
    ("importing", False, "Wait until the import has finished."),
    ("job_running", False, "Wait until the background work has finished, or cancel it."),
    ("knowledge_base", True, "Import a knowledge base first."),
    ("document", True, "Open a document first."),
    ("mention", True, "Go to a mention first."),
    ("drafting", False, "Finish the new entity first, or close its form with Esc."),
    ("candidates", 10, "The mention has no such candidate."),
    ("decided", True, "The mention is not decided yet."),
    ("selection", True, "Select some text first."),
    ("can_undo", True, "Nothing to undo."),
    ("can_redo", True, "Nothing to redo."),
    ("conflicts", 1, "No other curator decided differently since you opened the project."),
    ("interrupted", True, "No training was interrupted."),
    ("job_running", True, "Nothing runs in the background."),
)
"""(field, the value that would enable the command, the sentence), in the order in which to act."""
NO_PROJECT = "Open a project first."
OTHERWISE = "It cannot be used now."


def why_disabled(command: Command[Any], state: WindowState) -> str:
    """One sentence about the first thing that is missing; '' for an enabled command."""
    if command.enabled(state):
        return ""
    if not state.project:
        return tr(NO_PROJECT)
    reached, tried = state, []
    for name, value, words in NEEDS:
        if getattr(reached, name) == value:
            continue
        reached = replace(reached, **{name: value})
        tried.append((name, words))
        if command.enabled(reached):
            return tr(next(words for name, words in tried if _needed(command, state, reached, name)))
    return tr(OTHERWISE)


def _needed(command: Command[Any], state: WindowState, reached: WindowState, name: str) -> bool:
    """Whether the command would be disabled again if this field had its current value."""
    return not command.enabled(replace(reached, **{name: getattr(state, name)}))


# Finding a command or a document by a few of its letters.

START, WORD, RUN, PLAIN, GAP = 12, 8, 7, 1, 3
"""The score of a matched letter: at the start, at the start of a word, right after the previous match, anywhere; and
the cost of skipping letters."""


@dataclass(frozen=True, slots=True)
class Match:
    """`places` are the indices of the matched letters; a higher `score` is a better match."""

    score: int
    places: tuple[int, ...]


def match(query: str, text: str) -> Match | None:
    """How well the letters of `query` occur in `text` in order; None if they do not.

    Case and spaces of the query are ignored. The best of all placements of the letters counts (dynamic programming over
    the text, len(query) * len(text) steps); unmatched text lowers the score slightly.
    """
    wanted = "".join(query.casefold().split())
    folded = text.casefold()
    if not wanted:
        return Match(0, ())
    if len(folded) != len(text):  # a letter that folds to two would shift the positions
        folded = text.lower() if len(text.lower()) == len(text) else text
    best = _best(wanted, folded)
    return Match(best[0] * 100 - len(text), best[1]) if best is not None else None


def _best(wanted: str, text: str) -> tuple[int, tuple[int, ...]] | None:
    """rows[j] is the best placement of the letters so far with the last one at j."""
    rows: dict[int, tuple[int, tuple[int, ...]]] = {}
    for at, letter in enumerate(wanted):
        found: dict[int, tuple[int, tuple[int, ...]]] = {}
        before: tuple[int, tuple[int, ...]] | None = (0, ()) if at == 0 else None
        for place, one in enumerate(text):
            if at and place - 1 in rows and (before is None or rows[place - 1][0] > before[0]):
                before = rows[place - 1]
            if one == letter:
                ways = [(before[0] - (GAP if at else 0) + _worth(text, place), before[1])] if before is not None else []
                if place - 1 in rows:
                    ways.append((rows[place - 1][0] + max(RUN, _worth(text, place)), rows[place - 1][1]))
                if ways:
                    score, places = max(ways, key=lambda way: way[0])
                    found[place] = (score, (*places, place))
        rows = found
    return max(rows.values(), key=lambda way: way[0], default=None)


def _worth(text: str, place: int) -> int:
    if place == 0:
        return START
    return WORD if not text[place - 1].isalnum() else PLAIN
