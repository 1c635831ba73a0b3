"""Commands are complete and unambiguous, and listed without what carries them out."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib import import_module
from pkgutil import walk_packages
from typing import Any
from unittest.mock import MagicMock

import pytest

import curator.ui
from curator.commands.command import Command, Menu, WindowState
from curator.ui.shell.catalogue import COMMANDS

BY_KEY = {key: command for command in COMMANDS for key in command.shortcuts}
JUDGING = {
    "annotate.attributes",
    *(
        "mention.next",
        "mention.previous",
        "mention.undecided",
        "mention.accept",
        "mention.nil",
        "mention.nil_usual",
        "mention.reject",
    ),
    *("mention.skip", "mention.clear", "mention.search", "mention.search_text", "mention.search_also"),
    *("mention.create", "mention.contrast", "mention.tint", "mention.hidden", "mention.page"),
    *(f"mention.{what}{rank}" for what in ("choose", "also") for rank in range(1, 10)),
    *("queue.next", "queue.previous", "queue.done", "edit.undo", "edit.redo", "edit.settings", "edit.shortcuts"),
    *("edit.find", "edit.find_next", "edit.find_previous", "edit.caret"),
}
"""Of the menus Edit, Mention and Queue: all else there acts on the project, or shows what is decided in it."""


def bench_after(command: Command[Any]) -> MagicMock:
    """What the command asked a workbench for; an act that decides is done at once."""
    bench = MagicMock()
    bench.many.press.side_effect = lambda act: act()
    command.run(bench)
    return bench


def test_ids_and_shortcuts_are_unique() -> None:
    for values in ([c.id for c in COMMANDS], [s for c in COMMANDS for s in c.shortcuts]):
        assert [v for v, n in Counter(values).items() if n > 1] == []


def test_every_command_that_is_declared_is_listed() -> None:
    lists = [import_module(one.name) for one in walk_packages(curator.ui.__path__, "curator.ui.")]
    tables = [table for one in lists if one.__name__.endswith("_commands") for table in vars(one).values()]
    declared = {c.id for table in tables if isinstance(table, tuple) for c in table if isinstance(c, Command)}
    assert declared == {c.id for c in COMMANDS}, "list it in curator/ui/shell/catalogue.py"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.id)
def test_each_command_says_what_it_does_and_stands_behind_one_of_its_group(command: Command[Any]) -> None:
    assert command.help.endswith(".")
    if command.after:
        [before] = [one for one in COMMANDS if one.id == command.after]
        assert (before.menu, before.group) == (command.menu, command.group)


def test_the_list_of_commands_loads_neither_widgets_nor_what_carries_them_out() -> None:
    code = (
        "import sys; before = set(sys.modules); import curator.ui.shell.catalogue\n"
        "new = sorted(one for one in set(sys.modules) - before if one.startswith(('PySide6', 'curator.ui.')))\n"
        "inner = [one for one in new if one.count('.') > 2]\n"
        "assert all(one == 'curator.ui.shell.catalogue' or one.endswith('_commands') for one in inner), inner\n"
        "assert not [one for one in new if one.startswith('PySide6')]\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("rank", range(1, 10))
def test_digits_choose_their_rank(rank: int) -> None:
    bench_after(BY_KEY[str(rank)]).decider.choose.assert_called_once_with(rank)


@pytest.mark.parametrize("rank", range(1, 10))
def test_digits_with_shift_add_to_a_link(rank: int) -> None:
    bench_after(BY_KEY[f"Shift+{rank}"]).decider.also_rank.assert_called_once_with(rank)


def test_nothing_that_writes_is_enabled_without_a_writable_project() -> None:
    reading = WindowState(project=True, knowledge_base=True, document=True, mention=True, candidates=9, selection=True)
    writing = {"mention.accept", "mention.nil", "mention.delete", "mention.create", "queue.done", "model.retrain"}
    enabled = {c.id for c in COMMANDS if c.enabled(reading)}
    assert not writing & enabled
    assert "project.export" in enabled


@pytest.mark.parametrize(("candidates", "rank", "enabled"), [(3, 3, True), (3, 4, False), (0, 1, False)])
def test_digits_need_that_many_candidates(candidates: int, rank: int, enabled: bool) -> None:
    state = WindowState(project=True, writable=True, document=True, mention=True, candidates=candidates)
    [command] = [c for c in COMMANDS if c.id == f"mention.choose{rank}"]
    assert command.enabled(state) is enabled


def test_in_a_round_only_what_judges_or_reads_is_within_reach() -> None:
    state = WindowState(
        project=True, writable=True, knowledge_base=True, document=True, mention=True, candidates=9, decided=True
    )
    judging = replace(state, judging=True, selection=True)
    menus = {Menu.EDIT, Menu.MENTION, Menu.ANNOTATE, Menu.QUEUE}
    enabled = {c.id for c in COMMANDS if c.enabled(judging)}
    assert {
        "mention.accept",
        "mention.choose1",
        "mention.nil",
        "mention.create",
        "queue.next",
        "people.leave",
    } <= enabled
    assert enabled & {c.id for c in COMMANDS if c.menu in menus} <= JUDGING
    assert {c.id for c in COMMANDS if c.in_rounds} == JUDGING
    assert not enabled & {"mention.delete", "edit.retype", "tools.detect", "mention.flag"}
    assert "people.leave" not in {c.id for c in COMMANDS if c.enabled(state)}
