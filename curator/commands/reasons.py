"""Why a command is disabled now, found by trying the changes that would enable it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from curator.commands.command import Command, WindowState
from curator.domain.wording import tr

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
