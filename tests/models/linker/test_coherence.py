"""What one mention of a document says about the others."""

from __future__ import annotations

import numpy as np
import pytest

from models.core.kb import KnowledgeBase
from models.core.queries import MentionQuery, Variant
from models.linker.coherence import TEMPERATURE, add_coherence
from models.names.candidates import LEXICAL, NAMES, CandidateTable
from models.retrievers.fusion import DOCUMENT, MEMORY, FusionWeights
from models.types import EntityRecord

PARENTS = {4: ("E3",), 5: ("E4",)}
FUSION = FusionWeights({NAMES: 1.0, MEMORY: 1.0})


def query(text: str) -> MentionQuery:
    return MentionQuery(text, text, "", (Variant(text, 1.0),) if text else (), ("Disease",))


def table(rows: list[int], names: list[float], memory: list[float] | None = None) -> CandidateTable:
    scores = {NAMES: np.asarray(names, np.float32)}
    scores |= {MEMORY: np.asarray(memory, np.float32)} if memory else {}
    return CandidateTable(np.asarray(rows), np.asarray(rows), scores)


KB = KnowledgeBase(tuple(EntityRecord(f"E{n}", f"name {n}", parents=PARENTS.get(n, ())) for n in range(6)))


def coherent(texts: list[str], tables: list[CandidateTable]) -> tuple[list[list[float]], list[list[float]]]:
    found, _, alone = add_coherence("", [query(text) for text in texts], tables, FUSION, KB)
    return [one.scores[DOCUMENT].tolist() for one in found], [one.same.tolist() for one in alone]


def test_a_candidate_has_its_chance_at_the_likeliest_other_mention() -> None:
    tables = [table([1, 2], [0.9, 0.9 - TEMPERATURE]), table([2, 3], [0.4, 0.9]), table([2, 3], [0.9, 0.2])]
    values, _ = coherent(["polyposis", "ataxia", "colon polyps"], tables)
    assert values[0] == pytest.approx([0.0, 1.0])
    assert values[1] == pytest.approx([1.0, 0.0]), "entity 3 is no likely answer of any other mention"
    assert values[2][0] == pytest.approx(1 / (1 + np.e))


def test_mentions_of_equal_wording_say_nothing_about_each_other() -> None:
    tables = [table([1], [0.9]), table([1], [0.9])]
    assert coherent(["breast cancer", "Cancer, Breast"], tables)[0] == [[0.0], [0.0]]
    assert coherent(["breast cancer", "breast tumor"], tables)[0] == [[1.0], [1.0]]


def test_what_was_decided_counts_and_can_be_left_out() -> None:
    tables = [table([1, 2], [0.9, 0.5], [0.0, 1.0]), table([1, 2], [0.5, 0.5], [0.0, 0.0])]
    values, alone = coherent(["one", "other"], tables)
    assert values[1] == pytest.approx([0.0, 1.0], abs=1e-3)
    assert alone[1] == pytest.approx([1.0, 0.0], abs=1e-3)


def test_what_stands_above_or_below_a_likely_answer_is_told() -> None:
    """Entity 3 is above 4, which is above 5: another mention is surely 4."""
    tables = [table([1, 3, 4, 5], [0.5, 0.5, 0.5, 0.5]), table([2, 4], [0.1, 0.9])]
    _, (asked, other), _ = add_coherence("", [query("palsy"), query("nerve palsy")], tables, FUSION, KB)
    assert asked.same == pytest.approx([0.0, 0.0, 1.0, 0.0])
    assert asked.broader == pytest.approx([0.0, 1.0, 0.0, 0.0])
    assert asked.narrower == pytest.approx([0.0, 0.0, 0.0, 1.0])
    assert other.broader == pytest.approx([0.0, 0.25])
    assert other.narrower == pytest.approx([0.0, 0.25])


def test_kin_of_a_mention_of_equal_wording_says_nothing() -> None:
    tables = [table([3], [0.9]), table([4], [0.9])]
    _, (asked, _), _ = add_coherence("", [query("palsy"), query("Palsies")], tables, FUSION, KB)
    assert asked.broader.tolist() == [0.0]


def test_mentions_without_candidates_or_wording_are_no_trouble() -> None:
    empty = CandidateTable(np.zeros(0, np.int64), np.zeros(0, np.int64), {NAMES: np.zeros(0, np.float32)})
    values, alone = coherent(["", "one", "two"], [empty, empty, table([1], [0.9])])
    assert values == alone == [[], [], [0.0]]


def test_scores_of_the_tables_stay() -> None:
    given = table([1], [0.9]).with_scores(LEXICAL, np.asarray([0.5]))
    (found,), _, _ = add_coherence("", [query("one")], [given], FUSION, KB)
    assert set(found.scores) == {NAMES, LEXICAL, DOCUMENT}
