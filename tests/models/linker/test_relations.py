"""What the definitions of a document's candidates say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.core.kb import KnowledgeBase
from models.linker.bundle import Bundle
from models.linker.linker import Linker
from models.linker.relations import Relations, plain_name
from models.rankers.combiner import FEATURES
from models.types import DocumentInput, EntityRecord, MentionInput

KB = KnowledgeBase(
    (
        EntityRecord("F1", "Frank Buffay Sr.", definition="The father of Ursula and of Lily  Buffay's other child."),
        EntityRecord("F2", "Frank Buffay Jr.", definition="A half-brother, married to Alice Knight."),
        EntityRecord("L", "Lily Buffay", definition="Lily Buffay was married to Frank Buffay Sr."),
        EntityRecord("A", "Alice Knight (teacher)"),
        EntityRecord("U", "Ursula"),
    )
)
ROWS = np.arange(5)


@pytest.mark.parametrize(
    ("text", "own_page", "subject"),
    [
        ("Lily Buffay\nA woman.", [0, 0, 1, 0, 0], [1, 0, 0, 0, 0]),
        ("lily buffay (character)", [0, 0, 0, 0, 0], [1, 0, 1, 0, 0]),
        ("Ursula", [0, 0, 0, 0, 1], [1, 0, 0, 0, 0]),
        ("Alice Knight (teacher)\n", [0, 0, 0, 1, 0], [0, 1, 0, 0, 0]),
        ("Of", [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]),
        ("", [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]),
        (
            "The father of Ursula, and of Lily Buffay's daughter Phoebe: a report of " + "rare " * 20 + "cases",
            [0] * 5,
            [0] * 5,
        ),
    ],
)
def test_the_first_line_is_the_subject(text: str, own_page: list[int], subject: list[int]) -> None:
    found = Relations(KB, text, {}).of(0, ROWS)
    assert found.tolist() == [own_page, subject, [0] * 5]


@pytest.mark.parametrize(
    ("likely", "number"),
    [
        ({}, [0, 0, 0, 0, 0]),
        ({4: {1}}, [1, 0, 0, 0, 0]),
        ({4: {0}}, [0, 0, 0, 0, 0]),
        ({4: {0, 1}}, [1, 0, 0, 0, 0]),
        ({4: {1}, 2: {2}, 3: {2}}, [2, 1, 0, 0, 0]),
        ({0: {1}, 2: {1}}, [1, 0, 1, 0, 0]),
    ],
    ids=["none", "one", "of the same wording", "of both", "two", "not itself"],
)
def test_definitions_name_entities_of_other_mentions(likely: dict[int, set[int]], number: list[int]) -> None:
    found = Relations(KB, "A page.", likely).of(0, ROWS)
    assert found[2] == pytest.approx(np.log1p(number))


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Titanic (1997 film)", "titanic"),
        ("(A) B", ""),
        ("C", ""),
        ("x" * 101, ""),
        ("Ross (the one) Geller", "ross geller"),
    ],
)
def test_names_are_looked_for_without_brackets(name: str, plain: str) -> None:
    assert plain_name(name) == plain


@pytest.mark.parametrize("coefficient", [0.0, 0.5])
def test_definitions_are_read_only_if_a_relation_has_a_coefficient_or_weights_are_fitted(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch, coefficient: float
) -> None:
    read: list[int] = []
    of = Relations.of
    monkeypatch.setattr(Relations, "of", lambda self, *given: (read.append(1), of(self, *given))[1])
    linker = Linker.load(bundle.path, device="cpu")
    coefficients = list(linker.combiner.coefficients)
    coefficients[FEATURES.index("names_subject")] = coefficient
    linker = linker.with_weights(combiner=replace(linker.combiner, coefficients=tuple(coefficients)))
    document = DocumentInput("d", "Aspirin\nSome calcium.", (MentionInput("m", ((13, 20),)),))
    list(linker.link([document]))
    assert bool(read) is bool(coefficient)
    read.clear()
    assert [linker.rank(mention) for mention in linker.score([document])]
    assert read
