"""The queue over mentions, against plain loops over the same records."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from curator.domain.attributes import KEY, Scheme, dump_scheme
from curator.domain.decisions import Verdict
from curator.domain.facets import Facet, Facets
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.services.ports.queue import QueueFilter
from curator.storage.store import SqlStore
from tests.curator.storage.filler import Filler, document, mention

AT = datetime(2026, 1, 1, tzinfo=UTC)


def suggestion(mention_id: int, first: float, second: float, *, nil: bool = False) -> Suggestion:
    candidates = tuple(
        Candidate(f"E{rank}", "name", (), "name", 1.0 / rank, {"lexical": 1.0 / rank}, probability=one)
        for rank, one in enumerate((first, second), 1)
    )
    return Suggestion(mention_id, candidates, NilEstimate(0.5, nil, True), Stamp("b", 0))


@pytest.fixture
def filled(store: SqlStore) -> Filler:
    """Two documents of three mentions: 1 linked, 2 NIL, 4 flagged, 5 without a suggestion, 6 deleted."""
    filler = Filler(store)
    filler.file(
        document("100", mentions=[mention(i, i + 2) for i in range(3)]),
        document("200", mentions=[mention(i, i + 2, type_="Chemical") for i in range(3)]),
    )
    filler.decide(1, Verdict.link("E1"))
    filler.decide(2, Verdict.nil())
    with store.write() as unit:
        pairs = {1: (0.97, 0.01), 2: (0.4, 0.35), 3: (0.6, 0.2), 4: (0.995, 0.001), 6: (0.1, 0.1)}
        unit.suggestions.save([suggestion(one, *pair, nil=one == 2) for one, pair in pairs.items()])
        unit.mentions.set_deleted([6], True)
        connection = unit.connection
        connection.execute(text("UPDATE mentions SET flagged = TRUE WHERE id = 4"))
        connection.execute(text("INSERT INTO comments VALUES (1, 1, 3, 'ada', '2026-01-01T00:00:00', 'why', FALSE)"))
        connection.execute(text("INSERT INTO comments VALUES (2, 1, 1, 'ada', '2026-01-01T00:00:00', 'gone', TRUE)"))
    return filler


EXPECTED = {
    Facet.STATE: {"link": 1, "nil": 1, "undecided": 3},
    Facet.TYPE: {"Disease": 3, "Chemical": 2},
    Facet.PROBABILITY: {"0.95": 1, "0": 1, "0.5": 1, "0.99": 1, "none": 1},
    Facet.MARGIN: {"0.9": 2, "0": 1, "0.3": 1, "none": 1},
    Facet.NIL: {"no": 3, "yes": 1, "none": 1},
    Facet.SECOND: {"0": 2, "0.2": 2, "none": 1},
    Facet.OTHERS: {"none": 5},
    Facet.OPINION: {"none": 5},
    Facet.CANDIDATES: {"2": 4, "none": 1},
    Facet.MATCHED: {"no": 4, "none": 1},
    Facet.EXACT: {"0": 4, "none": 1},
    Facet.SIMILARITY: {"0.9": 4, "none": 1},
    Facet.ALIKE: {"0.5": 4, "none": 1},
    Facet.RANK: {"1": 1, "no": 4},
    Facet.FLAG: {"no": 4, "yes": 1},
    Facet.COMMENT: {"no": 4, "yes": 1},
    Facet.ATTRIBUTE: {},
    Facet.CURATOR: {"ada": 2, "": 3},
    Facet.SPLIT: {"train": 5},
    Facet.DOCUMENT: {"todo": 5},
}


def test_every_facet_counts_mentions_that_are_not_deleted(filled: Filler) -> None:
    with filled.store.read() as unit:
        counts = unit.queue.cube(QueueFilter()).counts(Facets())
    assert {facet: dict(one) for facet, one in counts.items()} == EXPECTED


def test_a_facets_counts_follow_the_others_and_not_itself(filled: Filler) -> None:
    with filled.store.read() as unit:
        cube = unit.queue.cube(QueueFilter())
    counts = cube.counts(Facets.of({Facet.STATE: ["undecided"], Facet.TYPE: ["Disease"]}))
    assert counts[Facet.STATE] == Counter({"link": 1, "nil": 1, "undecided": 1})
    assert counts[Facet.TYPE] == Counter({"Chemical": 2, "Disease": 1})
    assert counts[Facet.COMMENT] == Counter({"yes": 1})


def test_each_value_chooses_as_many_mentions_as_are_counted(filled: Filler, subtests: pytest.Subtests) -> None:
    for facet in Facet:
        for value, number in EXPECTED[facet].items():
            with subtests.test(facet.value, value=str(value)), filled.store.read() as unit:
                where = QueueFilter(facets=Facets.of({facet: [value]}))
                found = unit.queue.mentions(where)
                assert len(found) == number == sum(unit.queue.documents(where).values())
                assert len(unit.documents.rows(where, offset=0, limit=9)) == unit.documents.count(where)
                assert [one for one in range(1, 7) if unit.queue.matches(one, where)] == found


def test_documents_that_hold_a_matching_mention(filled: Filler) -> None:
    undecided = QueueFilter(facets=Facets.of({Facet.STATE: ["undecided"], Facet.FLAG: ["no"]}))
    with filled.store.read() as unit:
        assert unit.queue.documents(undecided) == {1: 1, 2: 1}
        assert unit.queue.documents(undecided, among=[2]) == {2: 1}
        assert unit.queue.mentions(undecided, 2) == [5]
        assert unit.documents.beside(1, undecided, forward=True, undecided=True) == 2
        linked = QueueFilter(facets=Facets.of({Facet.STATE: ["link"]}))
        assert unit.documents.beside(None, linked, forward=True, undecided=True) is None


def test_the_filters_own_fields_hold_too(filled: Filler) -> None:
    facets = Facets.of({Facet.FLAG: ["no"], Facet.SPLIT: ["train"]})
    with filled.store.read() as unit:
        assert unit.queue.mentions(QueueFilter(text="100", facets=facets)) == [1, 2, 3]
        assert unit.queue.cube(QueueFilter(text="200")).total(Facets()) == 2


def test_the_least_sure_come_first(filled: Filler) -> None:
    with filled.store.read() as unit:
        rows = unit.queue.undecided(QueueFilter(), limit=9)
        assert [(one.mention_id, one.first, one.probability) for one in rows] == [
            (3, "E1", 0.6),
            (4, "E1", 0.995),
            (5, "", None),
        ]
        assert [one.mention_id for one in unit.queue.undecided(QueueFilter(), limit=1)] == [3]
        flagged = QueueFilter(facets=Facets.of({Facet.FLAG: ["yes"], Facet.PROBABILITY: ["0.99"]}))
        assert [one.mention_id for one in unit.queue.undecided(flagged, limit=9)] == [4]


def test_a_sure_nil_is_not_unsure(filled: Filler) -> None:
    with filled.store.write() as unit:
        nils = {3: (0.02, 0.01), 4: (0.7, 0.1)}
        unit.suggestions.save([suggestion(one, *pair, nil=True) for one, pair in nils.items()])
        unit.suggestions.save([suggestion(5, 0.6, 0.3)])
        rows = unit.queue.undecided(QueueFilter(), limit=9)
    assert [(one.mention_id, one.first) for one in rows] == [(4, "NIL"), (5, "E1"), (3, "NIL")]
    assert [round(one.probability or 0, 6) for one in rows] == [0.3, 0.6, 0.98]


def test_the_counts_of_one_document(filled: Filler) -> None:
    with filled.store.read() as unit:
        whole, first, second = (unit.queue.cube(QueueFilter(), one).total(Facets()) for one in (None, 1, 2))
    assert (whole, first, second) == (5, 3, 2)


def test_the_rank_of_the_linked_entity_follows_decisions_and_suggestions(filled: Filler) -> None:
    def ranks() -> dict[str, int]:
        with filled.store.read() as unit:
            return {value: n for value, n in unit.queue.cube(QueueFilter()).counts(Facets())[Facet.RANK].items() if n}

    filled.decide(1, Verdict.link("E2"))
    filled.decide(3, Verdict.link("E9"))
    filled.decide(5, Verdict.link("E1"))
    assert ranks() == {"2": 1, "0": 1, "none": 1, "no": 2}, "second, no candidate, no suggestion, two not linked"
    filled.decide(1, Verdict.nil())
    with filled.store.write() as unit:
        unit.suggestions.save([suggestion(5, 0.5, 0.25)])
    assert ranks() == {"0": 1, "1": 1, "no": 3}


@pytest.mark.parametrize(
    ("name", "matched", "expanded", "value"),
    [
        ("ABC", "other", "", "name"),
        ("Other", "a b c", "", "no"),
        ("Other", "abc", "", "synonym"),
        ("Long form", "x", "long  form", "name"),
    ],
)
def test_a_suggestion_says_whether_its_name_is_the_mentions(
    filled: Filler, name: str, matched: str, expanded: str, value: str
) -> None:
    first = Candidate("E1", name, (), matched, 1.0, probability=0.5)
    with filled.store.write() as unit:
        unit.connection.execute(text("UPDATE mentions SET text = 'Abc' WHERE id = 3"))
        unit.suggestions.save([Suggestion(3, (first,), NilEstimate(0.5, False, True), Stamp("b", 0), expanded)])
    with filled.store.read() as unit:
        assert unit.queue.mentions(QueueFilter(facets=Facets.of({Facet.MATCHED: [value]})), 1)[-1] == 3


def test_attributes_are_counted_and_chosen_by_attribute_and_value(filled: Filler) -> None:
    scheme = Scheme().with_attribute("negation", ("affirmed", "negated")).with_attribute("time", ("past", "now"))
    set_ = {1: {1: 2, 2: 3}, 2: {1: 2}, 3: {1: 1, 2: 4}, 4: {2: 3}}
    with filled.store.write() as unit:
        unit.meta.set(KEY, dump_scheme(scheme))
        unit.attributes.append([(3, 1, 2), (4, 1, 1)], curator="ada", at=AT)  # before the last word
        rows = [(mention, name, value) for mention, some in set_.items() for name, value in some.items()]
        unit.attributes.append([*rows, (4, 1, None)], curator="ada", at=AT)

    def value(mention: int, attribute: int) -> str:
        chosen = set_.get(mention, {}).get(attribute)
        one = scheme.get(attribute)
        return f"{one.name}={next((each.name for each in one.shown if each.id == chosen), '')}"

    living = [1, 2, 3, 4, 5]
    wanted = [
        {"negation=negated"},
        {"negation="},
        {"negation=negated", "negation="},
        {"negation=negated", "time=past"},
        {"negation=affirmed", "negation=negated", "time="},
        {"time=now", "negation=nothing such"},
    ]
    with filled.store.read() as unit:
        cube = unit.queue.cube(QueueFilter())
        for chosen in wanted:
            facets = Facets.of({Facet.ATTRIBUTE: chosen})
            names = {1: "negation", 2: "time"}
            by = {at: {one for one in chosen if one.startswith(f"{name}=")} for at, name in names.items()}
            expected = [one for one in living if all(not some or value(one, at) in some for at, some in by.items())]
            assert unit.queue.mentions(QueueFilter(facets=facets)) == expected, chosen
            assert cube.total(facets) == len(expected), chosen
            assert [one.mention_id for one in unit.queue.undecided(QueueFilter(facets=facets), limit=9)] == [
                one for one in (3, 4, 5) if one in expected
            ]
            counts = cube.counts(facets)[Facet.ATTRIBUTE]
            for at in names:
                others = [one for one in living if all(not s or value(one, a) in s for a, s in by.items() if a != at)]
                assert {one: n for one, n in counts.items() if one.startswith(names[at])} == Counter(
                    value(one, at) for one in others
                ), chosen
        hidden = scheme.value_hidden(2, True).hidden(2, True)
    with filled.store.write() as unit:
        unit.meta.set(KEY, dump_scheme(hidden))
    with filled.store.read() as unit:
        counts = unit.queue.cube(QueueFilter()).counts(Facets())[Facet.ATTRIBUTE]
        assert counts == {"negation=affirmed": 1, "negation=": 4}
        assert unit.queue.mentions(QueueFilter(facets=Facets.of({Facet.ATTRIBUTE: ["negation="]}))) == [1, 2, 4, 5]


RANGES: tuple[tuple[Facet, list[str], list[int]], ...] = (
    (Facet.PROBABILITY, ["0.4..0.6"], [2, 3]),
    (Facet.PROBABILITY, ["0.41..0.59"], []),
    (Facet.PROBABILITY, ["0.4..0.6", "0.99"], [2, 3, 4]),
    (Facet.MARGIN, ["..0.4"], [2, 3]),
    (Facet.SECOND, ["0.01..0.2"], [1, 3]),
    (Facet.CANDIDATES, ["2..2"], [1, 2, 3, 4]),
    (Facet.SIMILARITY, ["0.3.."], [1, 2, 3, 4]),
    (Facet.ALIKE, ["0.5..0.5"], [1, 2, 3, 4]),
    (Facet.EXACT, ["..5"], []),
    (Facet.RANK, ["..5"], [1]),
)


def test_a_range_of_a_number_is_chosen_and_counted(filled: Filler, subtests: pytest.Subtests) -> None:
    for facet, values, expected in RANGES:
        facets = Facets.of({facet: values})
        with subtests.test(facet.value, values=str(values)), filled.store.read() as unit:
            cube = unit.queue.cube(QueueFilter(facets=facets))
            assert unit.queue.mentions(QueueFilter(facets=facets)) == expected
            assert cube.total(facets) == len(expected)
            assert cube.counts(Facets())[facet][values[0]] == len(set(expected) - ({4} if values[1:] else set()))
            assert all(unit.queue.matches(one, QueueFilter(facets=facets)) == (one in expected) for one in range(1, 6))
            waiting = {one.mention_id for one in unit.queue.undecided(QueueFilter(facets=facets), limit=9)}
            assert waiting == set(expected) - {1, 2}, "decided ones do not wait"


def test_any_candidate_after_the_second_is_found_by_its_score(filled: Filler) -> None:
    scores = {3: (0.5, 0.4, 0.1, 0.93), 4: (0.99, 0.95, 0.2)}
    with filled.store.write() as unit:
        for mention_id, some in scores.items():
            candidates = tuple(Candidate(f"E{rank}", "name", (), "name", one, {}) for rank, one in enumerate(some, 1))
            unit.suggestions.save([Suggestion(mention_id, candidates, NilEstimate(0.1, False, True), Stamp("b", 0))])
    with filled.store.read() as unit:
        for value, expected in (("0.9..", [3]), ("0.9", [3]), ("0.15..0.25", [4]), ("none", [1, 2, 5])):
            facets = Facets.of({Facet.OTHERS: [value]})
            assert unit.queue.mentions(QueueFilter(facets=facets)) == expected, value
            assert unit.queue.cube(QueueFilter(facets=facets)).total(facets) == len(expected), value


def test_any_candidate_is_found_by_its_name(filled: Filler) -> None:
    """Whether it has the mention's text as its name or a synonym, or the long form of an abbreviation."""

    def saved(mention_id: int, *found: tuple[str, str, dict[str, float]], expanded: str = "") -> None:
        candidates = tuple(
            Candidate(f"E{rank}", name, (), matched, 1.0 / rank, scores)
            for rank, (name, matched, scores) in enumerate(found, 1)
        )
        one = Suggestion(mention_id, candidates, NilEstimate(0.1, False, True), Stamp("b", 0), expanded)
        with filled.store.write() as unit:
            unit.suggestions.save([one])

    with filled.store.read() as unit:
        first, text = unit.mentions.get(1).text, unit.mentions.get(3).text
    saved(1, ("a", first.upper(), {"lexical": 1.0}))
    saved(3, ("a", "a", {"lexical": 0.4}), ("b", "b", {"names": 0.95}), (text, text, {"memory": 1.0}))
    saved(4, *[("a", "a", {"lexical": 0.1})] * 6, ("Long  Form", "x", {}), expanded="long form")
    saved(5)
    chosen = (
        (Facet.EXACT, "1", [1]),
        (Facet.EXACT, "2", [3]),
        (Facet.EXACT, "6", [4]),
        (Facet.EXACT, "0", [2]),
        (Facet.EXACT, "none", [5]),
        (Facet.EXACT, "2..", [3, 4]),
        (Facet.EXACT, "..3", [1, 3]),
        (Facet.ALIKE, "0.9", [3]),
        (Facet.ALIKE, "0.9..", [3]),
        (Facet.ALIKE, "none", [1, 5]),
    )
    for facet, value, expected in chosen:
        facets = Facets.of({facet: [value]})
        with filled.store.read() as unit:
            assert unit.queue.mentions(QueueFilter(facets=facets)) == expected, (facet, value)
            assert unit.queue.cube(QueueFilter(facets=facets)).total(facets) == len(expected), (facet, value)


def test_many_ranges_are_counted_each_by_itself(filled: Filler) -> None:
    """More than fit into one number of SQLite."""
    values = [f"{low / 100:g}..{high / 100:g}" for low in range(0, 100, 10) for high in range(low + 5, 101, 10)]
    facets = Facets.of({Facet.PROBABILITY: values, Facet.SECOND: values})
    with filled.store.read() as unit:
        counts = unit.queue.cube(QueueFilter(facets=facets)).counts(Facets())
        for facet in (Facet.PROBABILITY, Facet.SECOND):
            for one in values:
                where = QueueFilter(facets=Facets.of({facet: [one]}))
                assert counts[facet][one] == len(unit.queue.mentions(where)), (facet, one)
