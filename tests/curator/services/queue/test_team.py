"""Two curators in one shared project: documents handed out, news, collisions, undoing one's own steps, and rounds.

Each works with a login that has the rights of a curator and no more.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from curator.bootstrap import create_project, open_project
from curator.domain.attributes import Scheme
from curator.domain.decisions import Change, ChangeKind, Outcome, SkipReason, Verdict
from curator.domain.documents import DocumentState, Span
from curator.domain.entities import EntityDraft
from curator.domain.wording import UserError
from curator.project import Project
from curator.services.ports.address import SharedAddress
from curator.services.ports.queue import QueueFilter
from curator.services.ports.storage import Role
from curator.storage.team.board import TeamBoard
from curator.storage.team.people import People
from tests.postgres import Server

WAIT = 20
LOGINS = ("ada", "bob", "anna")
TEXT = "1|t|Aspirin and lidocaine\n1|a|Text.\n1\t0\t7\tAspirin\tChemical\n1\t12\t21\tlidocaine\tChemical\n\n"


OF_NOTHING = """
INSERT INTO curator.operations (id, kind, actor, at, text, payload) SELECT coalesce(max(id), 0) + 1, 'delete_mention',
    'bob', '2024-05-06T07:08:09+00:00', '', '{"mentions": [99999], "documents": [99999]}' FROM curator.operations
"""


@pytest.fixture(scope="module")
def place(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedAddress]:
    """Of a project with three documents."""
    name = server.new_base()
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("shared")
        patch.setenv("CURATOR_SHARED_DIR", str(folder))
        file = folder / "documents.pubtator"
        file.write_text("".join(TEXT.replace("1|", f"{n}|").replace("\n1\t", f"\n{n}\t") for n in (1, 2, 3)))
        found = SharedAddress.parse(server.address(name))
        project = create_project(found, name="trial", linker=False)
        for _ in project.importing.documents([file]):
            pass
        project.close()
        server.logins(*LOGINS)
        for who in LOGINS:
            People(found).grant(who, Role.ADJUDICATOR if who == "anna" else Role.CURATOR)
        yield found
    server.drop(name)


def joined(server: Server, place: SharedAddress, who: str) -> Project:
    return open_project(SharedAddress.parse(server.address(place.base, user=who)), linker=False)


@pytest.fixture
def pair(server: Server, place: SharedAddress) -> Iterator[tuple[Project, Project]]:
    ada, bob = (joined(server, place, who) for who in ("ada", "bob"))
    try:
        yield ada, bob
    finally:
        ada.close()
        bob.close()


class Told:
    def __init__(self, project: Project) -> None:
        self.changes: list[Change] = []
        self._news = threading.Condition()
        project.events.subscribe(self._hear)
        project.team.start()

    def _hear(self, change: Change) -> None:
        with self._news:
            self.changes.append(change)
            self._news.notify_all()

    def of(self, actor: str, kind: ChangeKind, number: int = 1) -> Change:
        def there() -> list[Change]:
            return [one for one in self.changes if (one.actor, one.kind) == (actor, kind)]

        with self._news:
            assert self._news.wait_for(lambda: len(there()) >= number, WAIT)
        return there()[-1]


def test_documents_are_handed_out_and_prolonged(pair, monkeypatch):
    ada, bob = pair
    first = ada.team.next(minutes=1)
    assert bob.team.next() not in (None, first)
    prolonged: list[int] = []
    monkeypatch.setattr(TeamBoard, "prolong", lambda _, document_id, __, *, seconds: prolonged.append(document_id))
    monkeypatch.setattr("curator.services.queue.team.time.monotonic", lambda: 1e9)
    ada.curation.decide(ada.queue.open(first).mentions[0].mention.id, Verdict.nil())
    assert prolonged == [first]
    ada.curation.finish(first)
    assert ada.team.next() not in (None, first)
    ada.curation.undo()


def test_a_folder_hands_out_its_documents_to_whoever_asks(tmp_path: Path):
    project = create_project(tmp_path / "p.curation", linker=False)
    (tmp_path / "d.pubtator").write_text(TEXT)
    assert project.team.next() is None
    for _ in project.importing.documents([tmp_path / "d.pubtator"]):
        pass
    document_id = project.team.next()
    project.team.start()
    assert (document_id, project.team.collisions) == (1, ())
    project.curation.finish(document_id)
    assert project.team.next() is None
    project.close()


def test_what_one_does_is_announced_to_the_other(server, place, pair, tmp_path):
    ada, bob = pair
    told = Told(ada)
    mention = bob.queue.open(2).mentions[1].mention
    assert not ada.curation.current([mention.id])
    server.sql(OF_NOTHING, base=place.base, user="bob")  # by another program
    change = bob.curation.decide(mention.id, Verdict.nil())
    assert told.of("bob", ChangeKind.DECIDED) == change
    assert ada.curation.current([mention.id])[mention.id].curator == "bob"
    bob.curation.finish(2)
    assert told.of("bob", ChangeKind.DOCUMENT_STATE).document_ids == (2,)
    assert ada.queue.row(2).state is DocumentState.DONE
    assert bob.curation.undo().kind is ChangeKind.DOCUMENT_STATE
    assert bob.curation.undo().kind is ChangeKind.DECIDED
    assert told.of("bob", ChangeKind.DECIDED, 2).text.startswith("Undid: ")
    assert not ada.curation.current([mention.id])
    (tmp_path / "more.pubtator").write_text(TEXT.replace("Text", "Other text"))
    with pytest.raises(UserError, match="adjudicators and owners may take it"):
        list(bob.importing.documents([tmp_path / "more.pubtator"]))
    with closing(joined(server, place, "anna")) as anna:
        list(anna.importing.documents([tmp_path / "more.pubtator"]))
    assert told.of("", ChangeKind.IMPORTED)  # which is no step


def test_decisions_that_collide_are_kept_and_shown_to_both(pair):
    ada, bob = pair
    told = Told(ada), Told(bob)
    mention = ada.queue.open(3).mentions[0].mention
    ada.curation.decide(mention.id, Verdict.nil())
    bob.curation.decide(mention.id, Verdict(Outcome.SKIPPED, (), SkipReason.UNSURE))
    for one, other in zip(told, ("bob", "ada"), strict=True):
        one.of(other, ChangeKind.DECIDED)
    assert [one.curator for one in ada.curation.history(mention.id)] == ["ada", "bob"]
    [found] = ada.team.collisions
    assert found.words == (
        "bob decided otherwise than you: Skipped “Aspirin” (unsure). Both decisions are kept, and theirs is in force."
    )
    with pytest.raises(UserError, match="bob has decided or changed the same mention since"):
        ada.curation.undo()
    assert bob.curation.undo() is not None


def test_a_failing_step_of_news_keeps_nobody_from_deciding(pair):
    ada, bob = pair
    told = Told(ada)
    ada.events.subscribe(lambda _: 1 / 0)
    bob.notes.flag_document(1)
    assert told.of("bob", ChangeKind.NOTES)


def test_a_curator_does_everything_that_is_part_of_curating(pair):
    """Each step, and its undo, passes what the database checks of a curator."""
    ada, bob = pair
    first, second = (one.mention.id for one in bob.queue.open(1).mentions)
    ada.curation.decide(first, Verdict.nil())
    scheme = Scheme().with_attribute("negation", ["negated"])
    [negation] = scheme.shown
    bob.curation.add_mention(1, [Span(0, 3), Span(8, 11)], "Chemical")
    made = next(one.mention.id for one in bob.queue.open(1).mentions if one.mention.id not in (first, second))
    bob.curation.decide_many([first, second], Verdict.nil())
    bob.curation.join_mentions(second, made)
    bob.curation.retype_mention(second, "Disease")
    bob.curation.delete_mention(second)
    bob.curation.finish(1)
    bob.notes.comment(1, "why?", mention_id=first)
    bob.notes.flag_mention(first)
    entity = bob.provisional.make(EntityDraft("Aspirin", ("Chemical",)), [first]).entity_id
    bob.provisional.edit(entity, EntityDraft("aspirin", ("Chemical",)))
    bob.attributes.save(scheme)
    bob.attributes.set([first], negation.id, negation.values[0].id)
    for _ in range(12):
        assert bob.curation.undo() is not None
    assert bob.curation.redo() is not None
    assert bob.curation.undo() is not None
    bob.filters.save("mine", QueueFilter())
    assert set(ada.steps.actors()) == {"ada", "bob"}
    first_decision = ada.queue.open(1).mentions[0].decision
    assert first_decision is not None
    assert first_decision.curator == "ada"  # bob's undo brought her decision back in her name


def test_a_round_is_blind_until_it_is_closed(server, place, pair):
    ada, bob = pair
    told = Told(bob)
    with closing(joined(server, place, "anna")) as anna:
        found = anna.rounds.create("pilot", [1])
        assert told.of("", ChangeKind.ROUND)
        with pytest.raises(UserError, match="adjudicators and owners may take it"):
            ada.rounds.create("mine", [1])
        seats = [one.rounds.seat(found) for one in pair]
        for one, verdict in zip(seats, (Verdict.nil(), Verdict(Outcome.SKIPPED, (), SkipReason.UNSURE)), strict=True):
            one.curation.decide_many([view.mention.id for view in one.queue.open(1).mentions], verdict)
            one.curation.add_mention(1, [Span(1, 5)], "Chemical")  # by both, who do not see each other's
        for project, name in ((ada, "ada"), (bob, "bob")):
            assert [one.curator for one in project.rounds.progress(found.id)] == [name]
            assert len(project.rounds.seat(found).queue.open(1).mentions) == 3
        assert [one.curator for one in anna.rounds.progress(found.id)] == ["ada", "bob"]
        with pytest.raises(UserError, match="adjudicators and owners may take it"):
            bob.rounds.close(found.id)
        anna.rounds.close(found.id)
        assert [one.curator for one in bob.rounds.progress(found.id)] == ["ada", "bob"]
        assert [one.mention.text for one in anna.adjudication.of(found.id).contested] == ["Aspirin", "lidocaine"]
