"""Letters of menus."""

from __future__ import annotations

from curator.ui.shell.menus import with_mnemonics


def test_beginnings_of_words_come_first() -> None:
    assert with_mnemonics(["Next mention", "New entity"]) == ["&Next mention", "New &entity"]


def test_an_earlier_title_gives_way_where_it_has_another_letter() -> None:
    assert with_mnemonics(["ab", "a", "a"]) == ["a&b", "&a", "a"]


def test_every_title_has_a_letter_of_its_own_where_that_can_be() -> None:
    titles = ["abc", "ab", "bc", "d a"]
    found = with_mnemonics(titles)
    letters = [one[one.index("&") + 1] for one in found]
    assert sorted(letters) == ["a", "b", "c", "d"]
    assert [one.replace("&", "") for one in found] == titles
