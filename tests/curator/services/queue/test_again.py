"""A change of type and made mentions, done again in the documents that are chosen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.domain.decisions import OperationKind, Verdict
from curator.domain.documents import Span, Split
from curator.domain.wording import UserError
from curator.services.curating.propagation import PropagationScope
from curator.services.ports.queue import QueueFilter
from curator.services.queue.again import Again
from curator.services.queue.corpus_search import CorpusQuery
from tests.curator.services.fakes import World, make_world

LIDOCAINE = Verdict.link("MESH:D008012")
QUERY = CorpusQuery("lidocaine")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Two documents; “Lidocaine” is a mention in each title (1, 5), and occurs again in each abstract."""
    made = make_world(tmp_path, kb=True, documents=2)
    yield made
    made.project.close()


def listed(world: World, number: int, scope: PropagationScope = PropagationScope.PROJECT, **options: object) -> Again:
    return world.project.again.others(number, scope=scope, **options)  # type: ignore[arg-type]


def ids(found: Again) -> list[int]:
    return [line.context.mention_id for line in found.others.lines]


def types(world: World, *mention_ids: int) -> list[str]:
    with world.store.read() as unit:
        return [unit.mentions.get(one).type for one in mention_ids]


def test_a_change_of_type_is_done_again_where_the_string_has_the_old_type(world: World) -> None:
    project = world.project
    project.curation.retype_mention(1, "Drug")
    world.documents(1, first=3, name="b.pubtator", split=Split.TEST)
    assert ids(listed(world, 1)) == [5, 9]
    assert ids(listed(world, 1, PropagationScope.SINCE)) == [9]
    assert ids(listed(world, 1, PropagationScope.DOCUMENT, document_id=2)) == [5]
    assert ids(listed(world, 1, PropagationScope.QUEUE, where=QueueFilter(split=Split.TEST))) == [9]
    found = listed(world, 1)
    assert (found.kind, found.mention_type, found.others.ticked) == (OperationKind.CHANGE_MENTION, "Drug", (5, 9))
    old = found.others.this.type
    change = project.again.apply(found, [5, 9])
    assert change.text == f"Changed the type of 2 other mentions of “Lidocaine” from {old} to Drug"
    assert types(world, 1, 5, 9) == ["Drug"] * 3
    with pytest.raises(UserError, match=f"no longer have the type {old}"):
        project.again.apply(found, [5])
    project.curation.undo()
    assert types(world, 1, 5, 9) == ["Drug", old, old]
    project.curation.redo()
    assert types(world, 1, 5, 9) == ["Drug"] * 3
    with pytest.raises(ValueError, match="only what is listed"):
        project.again.apply(found, [2])


def test_made_mentions_are_made_again_as_whole_words_without_a_mention(world: World) -> None:
    project = world.project
    made = project.curation.add_mention(1, [Span(29, 38)], "Chemical").mention_ids[0]
    found = listed(world, 1)
    assert (found.kind, found.mention_type, ids(found)) == (OperationKind.ADD_MENTION, "Chemical", [-1])
    assert [(one.document_id, one.start, one.end) for one in found.hits.values()] == [(2, 29, 38)]
    assert ids(listed(world, 1, PropagationScope.DOCUMENT, document_id=1)) == []
    assert ids(listed(world, 1, PropagationScope.QUEUE, where=QueueFilter(split=Split.TEST))) == []
    assert project.again.apply(found, [-1]).text == "Made 1 mention from a search"
    assert not ids(listed(world, 1))
    project.curation.undo()
    project.curation.delete_mention(made)
    with pytest.raises(UserError, match="No mention of step 1"):
        listed(world, 1)


def test_mentions_made_with_a_decision_are_made_with_it_again(world: World) -> None:
    project = world.project
    hits = [one for part in project.corpus.search(QUERY) for one in part.hits if one.mention is None]
    project.hits.make(hits[:1], "Chemical", LIDOCAINE)
    found = listed(world, 1)
    assert (found.others.verdict, found.others.names) == (LIDOCAINE, ("Lidocaine",))
    change = project.again.apply(found, ids(found))
    assert change.text == "Made 1 mention from a search, linked to “Lidocaine”"
    assert project.curation.current(change.mention_ids)[change.mention_ids[0]].verdict == LIDOCAINE


def test_decisions_are_done_again_as_before_and_other_steps_are_refused(world: World) -> None:
    project = world.project
    project.curation.decide(1, LIDOCAINE)
    found = listed(world, 1)
    assert (found.kind, ids(found)) == (OperationKind.DECIDE, [5])
    project.again.apply(found, [5])
    assert project.curation.current([5])[5].verdict == LIDOCAINE
    project.curation.change_mention(2, [Span(0, 4)])
    project.notes.flag_mention(1)
    for number in (3, 4):
        with pytest.raises(UserError, match=f"Step {number} .* is not one step about one string"):
            listed(world, number)
