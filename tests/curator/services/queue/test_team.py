"""Two curators in one shared project: documents handed out, news, collisions, and undoing one's own steps."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.bootstrap import create_project, open_project
from curator.domain.decisions import Change, ChangeKind, Outcome, SkipReason, Verdict
from curator.domain.documents import DocumentState
from curator.domain.wording import UserError
from curator.project import Project
from curator.services.ports import SharedAddress
from tests.postgres import Server

WAIT = 20
TEXT = "1|t|Aspirin and lidocaine\n1|a|Text.\n1\t0\t7\tAspirin\tChemical\n1\t12\t21\tlidocaine\tChemical\n\n"


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
        yield found
    server.drop(name)


@pytest.fixture
def pair(place: SharedAddress) -> Iterator[tuple[Project, Project]]:
    ada, bob = (open_project(place, linker=False, curator=who) for who in ("ada", "bob"))
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
    before = ada.team.claims()[0].until
    monkeypatch.setattr("curator.services.queue.team.time.monotonic", lambda: 1e9)
    ada.curation.decide(ada.queue.open(first).mentions[0].mention.id, Verdict.nil())
    assert ada.team.claims()[0].until > before
    ada.curation.finish(first)
    assert ada.team.next() not in (None, first)
    for project in pair:
        for one in project.team.claims():
            project.team.give_back(one.document_id)
    assert ada.team.claims() == []
    ada.curation.undo()


def test_a_folder_hands_out_its_documents_to_whoever_asks(tmp_path: Path):
    project = create_project(tmp_path / "p.curation", linker=False)
    (tmp_path / "d.pubtator").write_text(TEXT)
    assert project.team.next() is None
    for _ in project.importing.documents([tmp_path / "d.pubtator"]):
        pass
    document_id = project.team.next()
    project.team.start()
    project.team.give_back(document_id)
    assert (document_id, project.team.claims(), project.team.collisions) == (1, [], ())
    project.curation.finish(document_id)
    assert project.team.next() is None
    project.close()


def test_what_one_does_is_announced_to_the_other(pair, tmp_path):
    ada, bob = pair
    told = Told(ada)
    mention = bob.queue.open(2).mentions[1].mention
    assert not ada.curation.current([mention.id])
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
    for _ in bob.importing.documents([tmp_path / "more.pubtator"]):
        pass
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
