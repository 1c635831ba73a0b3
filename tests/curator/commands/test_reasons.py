"""A command that cannot be used says what is missing."""

from __future__ import annotations

import pytest

from curator.commands.command import WindowState, why_disabled
from curator.ui.shell.catalogue import COMMANDS

OPEN = WindowState(project=True, writable=True, knowledge_base=True, document=True)


def why(command_id: str, state: WindowState) -> str:
    return why_disabled(next(one for one in COMMANDS if one.id == command_id), state)


@pytest.mark.parametrize(
    ("command_id", "state", "words"),
    [
        ("edit.settings", WindowState(), ""),
        ("mention.next", WindowState(), "Open a project first."),
        ("mention.next", WindowState(project=True), "Open a document first."),
        ("project.import", WindowState(project=True), "The project is open read-only."),
        ("model.retrain", WindowState(project=True, writable=True), "Import a knowledge base first."),
        ("mention.nil", OPEN, "Go to a mention first."),
        ("edit.undo", OPEN, "Nothing to undo."),
        ("model.cancel", OPEN, "Nothing runs in the background."),
        (
            "model.retrain",
            WindowState(project=True, writable=True, knowledge_base=True, job_running=True),
            "Wait until the background work has finished, or cancel it.",
        ),
    ],
)
def test_the_first_thing_that_is_missing_is_said(command_id: str, state: WindowState, words: str) -> None:
    assert why(command_id, state) == words


@pytest.mark.parametrize("state", [WindowState(), OPEN], ids=["nothing open", "a document"])
def test_there_is_a_reason_exactly_where_a_command_is_disabled(state: WindowState) -> None:
    for command in COMMANDS:
        assert bool(why_disabled(command, state)) is not command.enabled(state), command.id
