"""Which other mentions a verdict plainly fits, by context."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from curator.domain.decisions import Verdict
from curator.services.curating.propagation import FEW, Group, GroupKind, grouped
from curator.services.ports.queue import Head, MentionContext

NAMES = {"D1": "Lead Poisoning", "D2": "Lead"}
NUMBERS = count(100)


def context(
    first: str = "D1",
    *,
    text: str = "lead",
    document: int = 1,
    nil: bool = False,
    expanded: str = "",
    left: str = "patients with chronic ",
    right: str = " in the blood serum",
    verdict: Verdict | None = None,
) -> MentionContext:
    head = Head(first, NAMES.get(first, first), 0.5, 0.9, 0.1, nil, True, expanded, "b", True) if first else None
    return MentionContext(
        next(NUMBERS), document, str(document), 0, left, text, right, "Disease", verdict, "ada" if verdict else "", head
    )


THIS = context()
LINK = Verdict.link("D1")


def groups(*others: MentionContext, this: MentionContext = THIS, verdict: Verdict = LINK) -> list[Group]:
    return list(grouped(this, verdict, others, names=NAMES))


def whys(*others: MentionContext, this: MentionContext = THIS, verdict: Verdict = LINK) -> list[str]:
    return [line.why for group in groups(*others, this=this, verdict=verdict) for line in group.lines]


def test_the_same_suggestion_is_ticked_and_another_is_not() -> None:
    alike, other = groups(context(), context("D2"), context(document=2))
    assert (alike.kind, [line.ticked for line in alike.lines]) == (GroupKind.ALIKE, [True, True])
    assert (other.kind, other.title) == (GroupKind.OTHER_SUGGESTION, "suggested: Lead")
    assert [line.ticked for line in other.lines] == [False]


def test_a_correction_goes_to_those_with_the_same_wrong_suggestion() -> None:
    """The linker said D2 here and there; the curator said D1."""
    this = context("D2")
    assert whys(context("D2"), context("D1"), context("D3"), this=this) == ["", "", "suggested: D3"]


def test_nil_goes_to_those_suggested_as_nil() -> None:
    assert whys(context(nil=True), context("D2"), this=context("D3"), verdict=Verdict.nil()) == ["", "suggested: Lead"]


def test_another_long_form_is_another_thing_and_an_unknown_one_is_not() -> None:
    this = context(text="AD", expanded="Alzheimer disease")
    dermatitis, same, unknown = (
        context(text="AD", expanded="atopic dermatitis"),
        context(text="AD", expanded="Alzheimer's diseases"),
        context(text="AD"),
    )
    assert whys(dermatitis, same, unknown, this=this) == ["", "", "stands for “atopic dermatitis”"]


def test_what_is_decided_already_is_listed_apart_and_unticked() -> None:
    found = groups(context(verdict=LINK), context(verdict=Verdict.link("D2")), context(verdict=Verdict.reject()))
    assert [(one.kind, one.title) for one in found] == [
        (GroupKind.DECIDED_ALIKE, "already decided the same way"),
        (GroupKind.DECIDED_OTHERWISE, "decided differently: Lead"),
        (GroupKind.DECIDED_OTHERWISE, "decided differently: rejected"),
    ]
    assert not any(line.ticked for one in found for line in one.lines)


def test_what_is_not_linked_yet_is_ticked_in_the_same_document_alone() -> None:
    assert whys(context(""), context("", document=2)) == ["", "without a suggestion yet"]


@pytest.mark.parametrize(
    ("here", "there", "other"),
    [("AS", "As", True), ("lead", "Lead", False), ("LEAD", "lead", True), ("seizures", "SEIZURES", False)],
)
def test_capitals_can_make_a_short_word_another(here: str, there: str, other: bool) -> None:
    (why,) = whys(context(text=there), this=context(text=here))
    assert why == (f"written as “{there}”" if other else "")


def test_surroundings_that_share_nothing_with_the_others_are_unticked() -> None:
    lines = [context() for _ in range(FEW - 1)]
    strange = context(left="the band played its ", right=" singer loudly")
    assert whys(*lines, strange) == [*[""] * (FEW - 1), "no words of context in common with the others"]
    assert whys(context(), strange) == ["", ""], "two lines do not tell what is unusual"
    assert whys(*lines, replace(strange, left="", right="")) == [""] * FEW, "no words tell nothing"
