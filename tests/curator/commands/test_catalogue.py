"""Commands are complete, unambiguous, and each asks the window for exactly one thing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from curator.commands import COMMANDS, Command, Menu, WindowActions, WindowState
from curator.commands.people import ALLOWED_IN_ROUNDS


class Recorder:
    """Stands for the window: remembers what it was asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **named: self.calls.append((name, (*args, *named.values())))


def calls_of(command: Command) -> list[tuple[str, tuple[Any, ...]]]:
    recorder = Recorder()
    command.run(recorder)  # type: ignore[arg-type]
    return recorder.calls


def test_ids_and_shortcuts_are_unique() -> None:
    for values in ([c.id for c in COMMANDS], [s for c in COMMANDS for s in c.shortcuts]):
        assert [v for v, n in Counter(values).items() if n > 1] == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.id)
def test_each_command_asks_for_one_action_that_the_window_has(command: Command) -> None:
    [(name, _)] = calls_of(command)
    assert callable(getattr(WindowActions, name))
    assert command.help.endswith(".")


def test_every_action_of_the_window_is_reachable() -> None:
    asked = {name for command in COMMANDS for name, _ in calls_of(command)}
    actions = {name for name in vars(WindowActions) if not name.startswith("_")}
    assert actions == asked


def test_digits_choose_their_rank() -> None:
    by_key = {key: calls_of(c) for c in COMMANDS for key in c.shortcuts}
    assert [by_key[str(rank)] for rank in range(1, 10)] == [[("choose", (rank,))] for rank in range(1, 10)]


def test_digits_with_shift_add_to_a_link() -> None:
    by_key = {key: calls_of(c) for c in COMMANDS for key in c.shortcuts}
    assert [by_key[f"Shift+{rank}"] for rank in range(1, 10)] == [[("link_also", (rank,))] for rank in range(1, 10)]


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
    menus = {Menu.EDIT, Menu.MENTION, Menu.QUEUE}
    enabled = {c.id for c in COMMANDS if c.enabled(judging)}
    assert {
        "mention.accept",
        "mention.choose1",
        "mention.nil",
        "mention.create",
        "queue.next",
        "people.leave",
    } <= enabled
    assert enabled & {c.id for c in COMMANDS if c.menu in menus} <= ALLOWED_IN_ROUNDS
    assert {c.id for c in COMMANDS} >= ALLOWED_IN_ROUNDS
    assert not enabled & {"mention.delete", "edit.retype", "tools.detect", "mention.flag"}
    assert "people.leave" not in {c.id for c in COMMANDS if c.enabled(state)}
