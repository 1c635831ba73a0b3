"""Hints and sentences name the keys that the user gave to the commands."""

from __future__ import annotations

import pytest

from curator.commands.command import Keymap, WindowState
from curator.ui.jobs.jobs_bar import hints_for
from curator.ui.kit.key_names import key_name, key_of, keys_between, place_of, use_keys, way_to
from curator.ui.shell.catalogue import COMMANDS

DECIDING = WindowState(project=True, writable=True, document=True, mention=True, candidates=3)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("Return", "↵"),
        ("Ctrl+Return", "Ctrl+↵"),
        ("Ctrl++", "Ctrl +"),
        ("Ctrl+Shift+Z", "Ctrl+Shift+Z"),
        ("+", "+"),
        ("-", "-"),
        ("Shift+Up", "Shift+↑"),
    ],
)
def test_keys_have_signs(key: str, name: str) -> None:
    assert key_name(key) == name


def test_hints_follow_the_keys_of_the_user() -> None:
    assert ("N 0", "NIL") in hints_for(DECIDING)
    use_keys(Keymap({"mention.nil": ("0",), "edit.undo": ("U",), "mention.accept": ("Ctrl+Return",)}), COMMANDS)
    hints = hints_for(DECIDING)
    assert hints[0] == ("Ctrl+↵", "accept")
    assert ("0", "NIL") in hints
    assert ("U", "undo") in hints


def test_a_command_without_a_key_is_not_hinted_at() -> None:
    use_keys(Keymap({"mention.skip": (), "mention.choose9": ()}), COMMANDS)
    words = [words for _, words in hints_for(DECIDING)]
    assert "skip" not in words
    assert "choose" not in words
    assert keys_between("mention.choose1", "mention.choose8") == "1–8"


def test_sentences_fall_back_on_the_menu() -> None:
    assert (key_of("edit.undo"), way_to("edit.undo"), place_of("edit.undo")) == (
        "Ctrl+Z",
        "Ctrl+Z",
        "Edit › Undo (Ctrl+Z)",
    )
    use_keys(Keymap({"edit.undo": ()}), COMMANDS)
    assert (key_of("edit.undo"), way_to("edit.undo"), place_of("edit.undo")) == ("", "Edit › Undo", "Edit › Undo")
