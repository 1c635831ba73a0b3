"""Places of a text in a newer version of it: by alignment, by quote and context, or nowhere."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from curator.domain.documents import Passage, Span
from curator.io.files.moving import moved_text


def moved(old: str, new: str, quote: str, *, nth: int = 0) -> str | None:
    """The words around the place that the n-th `quote` of `old` has in `new`, with the place in brackets."""
    at = -1
    for _ in range(nth + 1):
        at = old.index(quote, at + 1)
    found = moved_text(old, new, (Passage("abstract", 0, len(new)),)).find((Span(at, at + len(quote)),))
    if found is None:
        return None
    [span] = found
    return f"{new[: span.start]}[{new[span.start : span.end]}]{new[span.end :]}"


def test_what_stands_in_unchanged_words_moves_with_them() -> None:
    old = "Lidocaine was given. Patients on lidocaine recovered."
    new = "In 2020, Lidocaine was given twice. Patients on lidocaine recovered."
    assert moved(old, new, "Lidocaine") == "In 2020, [Lidocaine] was given twice. Patients on lidocaine recovered."
    assert moved(old, new, "lidocaine") == "In 2020, Lidocaine was given twice. Patients on [lidocaine] recovered."


def test_a_sentence_that_went_elsewhere_takes_its_mention_along() -> None:
    old = "NO rose sharply after surgery. Controls were healthy volunteers without any drug. NO fell in controls."
    new = "Controls were healthy volunteers without any drug. NO fell in controls. NO rose sharply after surgery."
    assert moved(old, new, "NO") == f"{new[:72]}[NO] rose sharply after surgery."
    assert moved(old, new, "NO", nth=1) == f"{new[:51]}[NO]{new[53:]}"


def test_a_mention_of_a_sentence_that_is_gone_is_nowhere() -> None:
    old = "NO rose sharply after surgery. It was well tolerated by everybody. NO fell in controls."
    new = "It was well tolerated by everybody. NO fell in controls."
    assert moved(old, new, "NO") is None, "another place of the same string was another mention"
    assert moved(old, new, "NO", nth=1) == "It was well tolerated by everybody. [NO] fell in controls."
    assert moved(old, "Nothing of it is left here.", "surgery") is None


def test_other_case_in_the_same_place_is_found() -> None:
    old, new = "The effect of Aspirin on the heart was small.", "The effect of ASPIRIN on the heart was small."
    assert moved(old, new, "Aspirin") == "The effect of [ASPIRIN] on the heart was small."


def test_fragments_that_changed_their_order_are_nowhere() -> None:
    old, new = "left and right ventricle", "right and left ventricle"
    mover = moved_text(old, new, ())
    assert mover.find((Span(0, 4), Span(15, 24))) in (None, (Span(10, 14), Span(15, 24)))
    assert moved_text("abcdef ghijkl", "ghijkl abcdef", ()).find((Span(0, 6), Span(7, 13))) is None


@settings(max_examples=40, deadline=None)
@given(st.text("ab cα\U0001d6fc.\r\n", max_size=40), st.text("ab c\U0001d6fc.", max_size=40), st.data())
def test_a_found_place_lies_in_the_text_and_nothing_moves_in_the_same_one(
    old: str, new: str, data: st.DataObject
) -> None:
    if not old:
        return
    start = data.draw(st.integers(0, len(old) - 1))
    span = Span(start, data.draw(st.integers(start + 1, len(old))))
    assert moved_text(old, old, ()).find((span,)) == (span,)
    found = moved_text(old, new, ()).find((span,))
    assert found is None or found[0].end <= len(new)
