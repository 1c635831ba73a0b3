"""Custom keys, and two commands with one key."""

from __future__ import annotations

from curator.commands.command import Keymap
from curator.ui.shell.catalogue import COMMANDS


def command(command_id: str):  # type: ignore[no-untyped-def]
    return next(one for one in COMMANDS if one.id == command_id)


def test_the_usual_keys_are_no_change_and_have_no_conflict() -> None:
    keymap = Keymap()
    assert all(keymap.keys(one) == one.shortcuts for one in COMMANDS)
    assert keymap.conflicts(COMMANDS) == {}
    assert keymap.with_keys(command("edit.undo"), ("Ctrl+Z",)).changed == {}


def test_a_key_that_is_taken_twice_is_a_conflict_until_one_lets_go() -> None:
    undo, redo = command("edit.undo"), command("edit.redo")
    both = Keymap().with_keys(redo, ("Ctrl+Z",))
    assert {key: [one.id for one in users] for key, users in both.conflicts(COMMANDS).items()} == {
        "Ctrl+Z": ["edit.undo", "edit.redo"]
    }
    taken = Keymap().taking(redo, "Ctrl+Z", COMMANDS)
    assert taken.conflicts(COMMANDS) == {}
    assert taken.keys(undo) == ()
    assert taken.keys(redo) == ("Ctrl+Z", "Ctrl+Shift+Z", "Ctrl+Y")
    assert taken.with_keys(undo, undo.shortcuts).with_keys(redo, redo.shortcuts) == Keymap()


def test_who_has_a_key() -> None:
    assert [one.id for one in Keymap().users("Ctrl+Z", COMMANDS)] == ["edit.undo"]
    assert Keymap().users("Ctrl+Z", COMMANDS, besides="edit.undo") == []


def test_keys_of_a_command_that_is_gone_do_no_harm() -> None:
    keymap = Keymap({"gone.long.ago": ("Ctrl+Z",)})
    assert keymap.conflicts(COMMANDS) == {}
    assert keymap.with_keys(command("edit.undo"), ()).changed.keys() == {"gone.long.ago", "edit.undo"}
