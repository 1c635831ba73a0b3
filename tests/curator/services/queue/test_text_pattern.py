"""What compiles, what it matches, and what is said of a pattern that cannot be searched for."""

from __future__ import annotations

import pytest

from curator.domain.wording import UserError
from curator.services.queue.corpus_search import LONGEST, SlowPatternError, pattern_of


def found(text: str, within: str, *, pattern: bool = False, case: bool = False, words: bool = False) -> list[str]:
    one = pattern_of(text, pattern=pattern, case=case, words=words)
    return [within[start:end] for start, end in one.spans(within)]


def test_words_are_found_in_any_case_and_over_line_ends() -> None:
    assert found("heart attack", "Heart\n attack, heart-attack") == ["Heart\n attack"]
    assert found("a.b", "a.b axb") == ["a.b"]
    assert found("μg", "5 µg") == ["µg"]  # the micro sign and the letter
    assert found("Heart", "heart Heart", case=True) == ["Heart"]


def test_whole_words_end_where_words_end() -> None:
    assert found("ace", "ACE, face, ace-2, ace2", words=True) == ["ACE", "ace"]
    assert found("a|b", "a ab b", pattern=True, words=True) == ["a", "b"]
    assert found("(+)-", "(+)-pentazocine (+)-", words=False) == ["(+)-", "(+)-"]


def test_patterns_know_properties_and_spelling_errors() -> None:
    assert found(r"\b\p{Greek}-\w+", "a β-blocker", pattern=True) == ["β-blocker"]
    assert found(r"\b(?:lidocaine){e<=1}\b", "lidocaine, lidocain, procaine", pattern=True)[:2] == [
        "lidocaine",
        "lidocain",
    ]
    assert found("^b", "a\nb", pattern=True) == ["b"]


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [("(heart", 7, "missing )"), ("heart**", 7, "multiple repeat"), ("*", 1, "nothing to repeat")],
)
def test_an_invalid_pattern_is_refused_with_its_place(text: str, place: int, reason: str) -> None:
    with pytest.raises(UserError, match="not valid at character") as raised:
        pattern_of(text, pattern=True, case=False, words=False)
    assert f"character {min(place, len(text))}: {reason}" in str(raised.value)
    assert found(text, f"a {text} b") == [text]  # as words it is what it says


@pytest.mark.parametrize("text", ["", "  \n", "a" * (LONGEST + 1)])
def test_nothing_and_too_much_are_refused(text: str) -> None:
    with pytest.raises(UserError):
        pattern_of(text, pattern=False, case=False, words=False)


def test_groups_inside_each_other_without_end_are_refused() -> None:
    with pytest.raises(UserError, match="groups inside each other"):
        pattern_of("(" * 500 + ")" * 500, pattern=True, case=False, words=False)


def test_a_pattern_that_backtracks_for_ever_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curator.services.queue.corpus_search.PATIENCE", 0.01)
    with pytest.raises(SlowPatternError):
        found("(a|aa)+c", "a" * 60, pattern=True)


def test_empty_matches_are_told_from_others() -> None:
    spans = list(pattern_of("x*", pattern=True, case=False, words=False).spans("axx"))
    assert (1, 3) in spans
    assert all(start == end for start, end in spans if (start, end) != (1, 3))
