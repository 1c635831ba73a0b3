"""The prompt of a second opinion, and what counts as an answer to it."""

from __future__ import annotations

import pytest

from curator.domain.documents import Document, DocumentState, Mention, MentionOrigin, Span, Split
from curator.domain.entities import Entity
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.domain.wording import UserError
from curator.services.linking.opinions import (
    AROUND,
    TEMPLATE,
    Prompt,
    checked_template,
    context,
    make_prompt,
    read_answer,
)
from curator.services.ports.opinions import NoAnswerError

PROMPT = Prompt("?", ("A", "B"))


def document(text: str) -> Document:
    return Document(1, 1, "7", 0, "On {candidates}", text, (), Split.TRAIN, DocumentState.TODO, 1)


def mention(text: str, *spans: tuple[int, int]) -> Mention:
    return Mention(3, 1, tuple(Span(*one) for one in spans), text, "Disease", MentionOrigin.SOURCE)


def suggestion(*names: str) -> Suggestion:
    found = tuple(Candidate(f"D{n}", name, ("Disease",), name, 1.0) for n, name in enumerate(names, 1))
    return Suggestion(3, found, NilEstimate(0.1, False, True), Stamp("b", 1))


def test_candidates_are_numbered_by_the_alphabet_with_what_the_knowledge_base_says() -> None:
    entities = {"D1": Entity("D1", "Zoster", ("Shingles", "b", "c", "d", "e"), ("Disease",), "A rash. " * 60)}
    made = make_prompt(TEMPLATE, document("a pox b"), mention("pox", (2, 5)), suggestion("Zoster", "Cowpox"), entities)
    assert made.choices == ("D2", "D1")
    lines = made.text.splitlines()
    assert "1. Cowpox (D2), Disease" in lines
    zoster = next(line for line in lines if line.startswith("2. "))
    assert zoster.startswith("2. Zoster (D1), Disease; also: Shingles, b, c, d. A rash. A rash.")
    assert zoster.endswith(" …")
    assert len(zoster) < 320
    assert "0. NIL: none of these" in lines
    assert "Text: a [[pox]] b" in lines
    assert "Title: On {candidates}" in lines, "what a document says is no placeholder"
    assert made.key("m") != made.key("n")
    with pytest.raises(UserError, match="no candidates"):
        make_prompt(TEMPLATE, document("a pox b"), mention("pox", (2, 5)), suggestion(), {})


def test_the_context_is_cut_at_words_and_marks_every_span() -> None:
    assert context("renal and\n heart  failure", mention("renal failure", (0, 5), (18, 25))) == (
        "[[renal]] and heart [[failure]]"
    )
    text = "word " * 400 + "pox" + " word" * 400
    found = context(text, mention("pox", (2000, 2003)))
    assert found.startswith("… word ")
    assert found.endswith(" word …")
    assert "word [[pox]] word" in found
    assert len(found) <= 2 * AROUND + 20
    assert context("x" * 5000, mention("x", (2500, 2501))).count("x") > AROUND, "a text without a blank"


def test_a_template_is_checked_for_its_placeholders() -> None:
    assert checked_template(TEMPLATE) == TEMPLATE
    assert checked_template('{mention} {context} {candidates} {"choice": 1} {} {{a b}}')
    with pytest.raises(UserError, match=r"unknown placeholder \{contxt\}"):
        checked_template("{mention} {contxt} {candidates}")
    with pytest.raises(UserError, match=r"needs the placeholder \{context\}"):
        checked_template("{mention} {candidates}")


@pytest.mark.parametrize(
    ("words", "entity", "reason"),
    [
        ("2", "B", ""),
        (" 1.\n", "A", ""),
        ("0", None, ""),
        ('{"choice": 2, "reason": "it  is\\nB"}', "B", "it is B"),
        ('{"choice": "1"}', "A", ""),
        ('{"choice": "nil", "reason": null}', None, ""),
        ('```json\n{"choice": 0}\n```', None, ""),
        ("<think>1? No,\n2.</think>\n2", "B", ""),
    ],
)
def test_a_number_or_json_is_an_answer(words: str, entity: str | None, reason: str) -> None:
    assert read_answer(words, PROMPT) == (entity, reason)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "B",
        "It is 2.",
        "1 or 2",
        "-1",
        "1.5",
        "²",
        "9" * 5000,
        "[" * 100_000,
        "null",
        "[1]",
        '{"choice": true}',
        '{"choice": 1.0}',
        '{"choice": [1]}',
        '{"choice": null}',
        '{"answer": 1}',
        '{"choice": 1',
        '{"choice": 1} and also 2',
        "<html><body>1</body></html>",
        "<think>1",
    ],
)
def test_anything_else_is_none(words: str) -> None:
    with pytest.raises(NoAnswerError, match="did not answer with a number"):
        read_answer(words, PROMPT)


@pytest.mark.parametrize("words", ["3", '{"choice": 3}', '{"choice": -1}', '{"choice": 1000000}'])
def test_a_number_that_was_not_offered_is_none(words: str) -> None:
    with pytest.raises(NoAnswerError, match="the prompt lists 0 to 2"):
        read_answer(words, PROMPT)
