"""Occlusion against plain arithmetic: a linker whose logits are sums of weights of the words that are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp

import pytest

from models.errors import ModelError
from models.linker.linker import Linker
from models.linker.occlusion import MOST_WORDS, masked, occlude, sentence_around, words_around
from models.types import DocumentInput, LinkedDocument, LinkedMention, MentionInput, NilEstimate, ScoredCandidate

TEXT = "Not this one. The numb skin, a cold sore with virus in it. Nor the virus here."
SORE = MentionInput("m", ((31, 40),))
FEVER = MentionInput("far", ((66, 71),))
WEIGHTS = {"numb": (0.5, 0.0), "skin": (0.25, 0.75), "cold": (1.0, 1.0), "virus": (0.0, 2.0), "sore": (3.0, 0.0)}


class Adding:
    """p1, p2 by a softmax over the sums of the weights of the words of the text; B falls out without "sore"."""

    def __init__(self) -> None:
        self.asked: list[DocumentInput] = []

    def link(self, documents: Iterable[DocumentInput], *, k: int, own: bool) -> Iterator[LinkedDocument]:
        assert own, "as the curator sees it"
        for document in documents:
            self.asked.append(document)
            mentions = tuple(self._answer(document, one) for one in document.mentions)
            yield LinkedDocument(document.key, mentions)

    def _answer(self, document: DocumentInput, mention: MentionInput) -> LinkedMention:
        sentence = document.text[14:59]
        sums = [sum(both[at] for word, both in WEIGHTS.items() if word in sentence) for at in (0, 1)]
        total = sum(map(exp, sums))
        ids = "AB" if "sore" in sentence else "A"
        found = tuple(ScoredCandidate(one, one, (), one, exp(sums["AB".index(one)]) / total) for one in ids)
        return LinkedMention(mention.key, mention.surface(document.text), "", found, NilEstimate(0.0, False, False))


def test_a_word_s_effect_is_what_it_adds_to_the_difference_of_the_logits() -> None:
    assert TEXT[31:40] == "cold sore"
    found = occlude(Adding(), DocumentInput("d", TEXT, (SORE,)), "m", ("A", "B"))
    assert found.lead == pytest.approx(4.75 - 3.75)
    effects = {TEXT[one.start : one.end]: one.change for one in found.words}
    assert effects.pop("sore") is None, "without it B is no candidate"
    assert effects.pop("numb") == pytest.approx(0.5)
    assert effects.pop("skin") == pytest.approx(-0.5)
    assert effects.pop("virus") == pytest.approx(-2.0)
    assert set(effects) == {"The", "a", "cold", "with", "in", "it"}
    assert all(change == pytest.approx(0.0, abs=1e-9) for change in effects.values())


def test_turned_round_every_sign_turns() -> None:
    document = DocumentInput("d", TEXT, (SORE,))
    one, other = (occlude(Adding(), document, "m", pair) for pair in (("A", "B"), ("B", "A")))
    assert one.lead == pytest.approx(-other.lead)
    for ours, theirs in zip(one.words, other.words, strict=True):
        assert (ours.start, ours.end) == (theirs.start, theirs.end)
        assert ours.change is None or ours.change == pytest.approx(-(theirs.change or 0.0))


def test_offsets_stay_and_only_the_sentence_s_mentions_are_linked_along() -> None:
    linker = Adding()
    skin = MentionInput("skin", ((23, 27),))
    occlude(linker, DocumentInput("d", TEXT, (skin, SORE, FEVER)), "m", ("A", "B"))
    assert {len(one.text) for one in linker.asked} == {len(TEXT)}
    assert all([m.key for m in one.mentions] == ["skin", "m"] for one in linker.asked)
    assert masked("ab cd", (3, 5)) == "ab   "


def test_a_mention_s_only_word_is_never_masked_and_far_words_are_left_out() -> None:
    text = " ".join(f"w{i}" for i in range(200))
    at = text.index("w100")
    mention = MentionInput("m", ((at, at + 4),))
    words = words_around(text, mention, (0, len(text)))
    assert len(words) == MOST_WORDS
    assert (at, at + 4) not in words
    assert words == sorted(words)
    assert abs((words[0][0] + words[-1][1]) / 2 - at) < 8, "as many before it as behind it"
    assert sentence_around(TEXT, SORE) == (14, 59)


def test_what_cannot_be_compared_is_said() -> None:
    document = DocumentInput("d", TEXT, (SORE,))
    with pytest.raises(ModelError, match="no longer a candidate"):
        occlude(Adding(), document, "m", ("A", "C"))
    with pytest.raises(ModelError, match="no longer in the document"):
        occlude(Adding(), document, "gone", ("A", "B"))


def test_the_real_linker_answers(bundle) -> None:
    text = "She had heart failure after breast cancer. Later nothing."
    mentions = (MentionInput("h", ((8, 21),), ("Disease",)), MentionInput("b", ((28, 41),), ("Disease",)))
    found = occlude(Linker.load(bundle.path, device="cpu"), DocumentInput("d", text, mentions), "h", ("D3", "D1"))
    assert found.lead > 0
    effects = {text[one.start : one.end]: one.change for one in found.words}
    assert set(effects) == {"She", "had", "heart", "failure", "after", "breast", "cancer"}
    assert effects["heart"] is not None
    assert effects["heart"] > 0.5, "the mention's own words speak for the entity that is named so"
    assert effects["had"] == pytest.approx(0.0, abs=1e-6), "names alone are compared"
