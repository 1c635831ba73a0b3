"""The words of the settings dialog."""

from __future__ import annotations

import re

import pytest

from curator.settings.schema import Option, OptionKind, options
from curator.ui.shell.settings import CHOICES

CHOSEN = [one for one in options() if one.kind is OptionKind.CHOICE]


@pytest.mark.parametrize("option", CHOSEN, ids=lambda one: one.name)
def test_help_names_no_value_that_the_box_shows_in_other_words(option: Option) -> None:
    words = option.help
    for choice in option.choices:
        words = words.replace(CHOICES.get(choice, choice), "")
    named = [one for one in option.choices if one in CHOICES and re.search(rf"\b{one}\b", words)]
    assert named == []


def test_shares_are_said_in_one_way() -> None:
    assert [one.name for one in options() if "percent " in one.help] == []
