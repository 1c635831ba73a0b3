"""Detection: documents without mentions, types of the corpus, undo."""

from __future__ import annotations

from curator.domain.decisions import Change
from curator.domain.documents import MentionOrigin
from curator.domain.jobs import JobOutcome
from tests.curator.services.fakes import World, finish, ignore

BARE = "7|t|An arrhythmia\n7|a|Nothing else.\n\n8|t|Nothing\n8|a|here.\n\n"


def test_names_are_marked_where_there_are_no_mentions(filled: World) -> None:
    finish(filled.project.importing.documents([filled.write(BARE, name="bare.pubtator")]))
    assert filled.project.detection.documents_without_mentions() == [3, 4]
    heard: list[Change] = []
    filled.project.events.subscribe(heard.append)
    ended: list[JobOutcome] = []
    handle = filled.project.detection.start(on_progress=ignore, on_end=ended.append)
    assert handle.wait(0) == ended[0]
    assert ended[0].result == {"documents": 2, "mentions": 1}
    mention = filled.project.queue.open(3).mentions[0].mention
    assert (mention.text, mention.type, mention.origin) == ("arrhythmia", "SpecificDisease", MentionOrigin.DETECTED)
    assert [one.document_ids for one in heard] == [(3,)]
    filled.project.curation.undo()
    assert filled.project.queue.open(3).mentions == ()


def test_what_overlaps_a_mention_is_not_added(filled: World) -> None:
    ended: list[JobOutcome] = []
    filled.project.detection.start([1], on_progress=ignore, on_end=ended.append)
    assert ended[0].result["mentions"] == 0
    assert len(filled.mentions(1)) == 4


def test_a_type_of_the_knowledge_base_serves_where_the_corpus_has_none(world: World) -> None:
    world.kb()
    finish(world.project.importing.documents([world.write(BARE)]))
    world.project.detection.start(on_progress=ignore, on_end=ignore)
    assert world.project.queue.open(1).mentions[0].mention.type == "Disease"


def test_the_usual_types_are_those_that_the_mentions_link_to(filled: World) -> None:
    assert filled.project.detection.usual_types() == ("Chemical", "Disease")
    filled.project.detection.start(types=("Disease",), on_progress=ignore, on_end=ignore)
    assert filled.linker.detected_types == ("Disease",)


def test_without_mentions_no_type_is_usual(world: World) -> None:
    world.kb()
    finish(world.project.importing.documents([world.write(BARE)]))
    assert world.project.detection.usual_types() == ()
