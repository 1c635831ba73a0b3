"""Searching the documents of a project, and making mentions of what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from curator.domain.decisions import ChangeKind, NilReason, Outcome, Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.wording import UserError
from curator.services.ports.queue import QueueFilter
from curator.services.queue.corpus_search import Bar, CorpusQuery, Found, Hit, HitChoice, PassageChoice
from curator.services.queue.hit_making import LeftOut, left_out_words
from tests.curator.services.fakes import World, finish, make_world

LIDOCAINE, ARREST = "MESH:D008012", "MESH:D006323"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(tmp_path, kb=True, documents=3)
    yield made
    made.project.close()


@pytest.fixture
def search(world: World) -> Callable[..., list[Hit]]:
    def called(text: str, **options: object) -> list[Hit]:
        return [hit for part in world.project.corpus.search(CorpusQuery(text, **options)) for hit in part.hits]  # type: ignore[arg-type]

    return called


Search = Callable[..., list[Hit]]


def last(world: World, query: CorpusQuery, **options: int | None) -> Found:
    return list(world.project.corpus.search(query, **options))[-1]


def test_each_hit_shows_its_place_and_what_is_there(world: World, search: Search) -> None:
    first, second = world.project.queue.ids(QueueFilter())[:2]
    mention = world.mentions(second)[0]
    world.project.curation.decide(mention, Verdict.link(LIDOCAINE))
    hits = search("lidocaine")
    assert [(one.document_id, one.start) for one in hits[:4]] == [(first, 0), (first, 29), (second, 0), (second, 29)]
    title, body = hits[2], hits[3]
    assert (title.text, title.right[:11], title.passage, title.exact) == ("Lidocaine", " and cardia", "title", True)
    assert title.mention is not None
    assert title.mention.verdict == Verdict.link(LIDOCAINE)
    assert title.mention.names == ("Lidocaine",)
    assert (body.passage, body.mention, body.left[-15:]) == ("abstract", None, "cardiac arrest\n")


def test_hits_are_narrowed(world: World, search: Search) -> None:
    ids = world.project.queue.ids(QueueFilter())
    with world.store.write() as unit:
        unit.documents.set_split(ids[:1], Split.TEST)
    assert {one.document_id for one in search("lidocaine", split=Split.TEST)} == {ids[0]}
    assert [one.start for one in search("lidocaine", passages=PassageChoice.TITLE)] == [0, 0, 0]
    assert [one.start for one in search("lidocaine", passages=PassageChoice.BODY)] == [29, 29, 29]
    assert {one.start for one in search("lidocaine", hits=HitChoice.NEW)} == {29}
    assert {one.start for one in search("lidocaine", hits=HitChoice.MENTIONS)} == {0}
    overlapping = search("cardiac", hits=HitChoice.OVERLAPPING)
    assert [one.mention.text for one in overlapping if one.mention is not None] == ["cardiac arrest"] * 3
    assert not search("cardiac", hits=HitChoice.NEW)
    assert not search("LIDOCAINE", case=True)


def test_hits_beyond_the_list_are_counted_and_empty_matches_are_none(world: World) -> None:
    capped = list(world.project.corpus.search(CorpusQuery("lidocaine"), most=2))
    assert sum(len(one.hits) for one in capped) == 2
    assert (capped[-1].number, capped[-1].documents, capped[-1].searched, capped[-1].total) == (6, 3, 3, 3)
    empty = last(world, CorpusQuery("(?=arrest)", pattern=True))
    assert (empty.number, empty.empty) == (0, 3)


def test_documents_of_an_import_that_was_undone_are_not_searched(world: World, search: Search) -> None:
    assert search("blorbitis")
    with world.store.write() as unit:
        unit.imports.set_withdrawn(unit.files.all()[0].id, True)
    assert not search("blorbitis")


def test_a_pattern_that_takes_too_long_ends_the_search_with_the_document(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curator.services.queue.corpus_search.PATIENCE", 0.01)
    world.documents(1, name="slow.pubtator", first=9)
    world.write("10|t|" + "a" * 80 + "\n10|a|b\n\n", name="b.pubtator")
    finish(world.project.importing.documents([world.folder / "b.pubtator"]))
    reports: list[Found] = []
    with pytest.raises(UserError, match="too long in document 10"):
        reports.extend(world.project.corpus.search(CorpusQuery(r"Lidocaine|(a|aa)+\d", pattern=True)))
    assert reports[-1].number == 8


def test_a_slow_pattern_is_reported_on_and_can_be_stopped_between_documents(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.documents(3, name="more.pubtator", first=9)
    query = CorpusQuery(r"Lidocaine", pattern=True)
    [whole, *_] = quick = list(world.project.corpus.search(query))
    monkeypatch.setattr("curator.services.queue.corpus_search.REPORT_SECONDS", 0.0)
    slow = list(world.project.corpus.search(query))
    assert [one.searched for one in slow[: whole.total]] == list(range(1, whole.total + 1))
    assert slow[-1].searched == quick[-1].searched == whole.total
    assert [hit.place for one in slow for hit in one.hits] == [hit.place for one in quick for hit in one.hits]
    search = world.project.corpus.search(query)
    assert next(search).searched == 1
    search.close()


def test_mentions_are_made_and_linked_in_one_step_that_one_undo_takes_back(world: World, search: Search) -> None:
    heard = []
    world.project.events.subscribe(heard.append)
    ids = world.project.queue.ids(QueueFilter())
    hits = search("lidocaine")
    made = world.project.hits.make(hits, "Chemical", Verdict.link(LIDOCAINE), sought="lidocaine")
    assert made.left_out == {LeftOut.EXISTS: 3}
    assert left_out_words(made.left_out) == "3 are mentions already"
    assert made.change.text == "Made 3 mentions from a search, linked to “Lidocaine”"
    assert [one.kind for one in heard] == [ChangeKind.MENTIONS]
    current = world.project.curation.current(made.change.mention_ids)
    assert {one.verdict for one in current.values()} == {Verdict.link(LIDOCAINE)}
    assert {one.note for one in current.values()} == {"Found by searching the documents for “lidocaine”"}
    opened = world.project.queue.open(ids[0])
    assert [one.mention.text for one in opened.mentions][:3] == ["Lidocaine", "cardiac arrest", "Lidocaine"]
    assert opened.document.state is DocumentState.IN_PROGRESS
    assert {one.exact for one in search("lidocaine")} == {True}

    world.project.curation.undo()
    assert len(world.mentions(ids[0])) == 4
    assert world.project.queue.open(ids[0]).document.state is DocumentState.TODO
    world.project.curation.redo()
    again = world.project.curation.current(made.change.mention_ids)
    assert {one.verdict for one in again.values()} == {Verdict.link(LIDOCAINE)}
    assert len(world.mentions(ids[0])) == 5


def test_mentions_are_made_nil_or_undecided(world: World, search: Search) -> None:
    nil = world.project.hits.make(search("slowed")[:1], "Process", Verdict(Outcome.NIL, reason=NilReason.NOT_IN_KB))
    assert nil.change.text == "Made 1 mention from a search, marked NIL"
    undecided = world.project.hits.make(search("slowed"), "Process", None)
    assert undecided.left_out == {LeftOut.EXISTS: 1}
    assert not world.project.curation.current(undecided.change.mention_ids)
    world.project.curation.undo()
    world.project.curation.undo()
    assert not search("slowed", hits=HitChoice.MENTIONS)


def test_what_cannot_be_a_mention_is_left_out_and_said(world: World, search: Search) -> None:
    border = search(r"arrest\nLidocaine", pattern=True)
    blank = search(r"\s+(?=slowed)", pattern=True)
    assert {one.bar for one in border} == {Bar.BORDER}
    assert {one.bar for one in blank} == {Bar.BLANK}
    with pytest.raises(UserError, match="No mention was made: 3 cross the end of a passage, 3 are white space alone"):
        world.project.hits.make([*border, *blank], "Disease", None)
    twice = search(r"slowed an\b", pattern=True)[:1] * 2
    made = world.project.hits.make([*twice, *search(" slowed ", pattern=True)], "Process", None)
    assert made.left_out == {LeftOut.EXISTS: 1}
    texts = {one.mention.text for one in world.project.queue.open(twice[0].document_id).mentions}
    assert {"slowed", "slowed an"} <= texts  # without the blanks, one inside the other


def test_refusals_change_nothing(world: World, search: Search) -> None:
    hits = search("slowed")
    with pytest.raises(UserError, match="no entity MESH:D9"):
        world.project.hits.make(hits, "Disease", Verdict.link("MESH:D9"))
    with pytest.raises(UserError, match="needs a type"):
        world.project.hits.make(hits, " ", None)
    with pytest.raises(UserError, match="No hit was chosen"):
        world.project.hits.make([], "Disease", None)
    assert not search("slowed", hits=HitChoice.MENTIONS)
    assert not world.project.curation.can_undo()
