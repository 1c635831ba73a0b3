"""A command: its texts and keys, when it is enabled, and its handler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Generic, TypeVar
from weakref import ref

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
