"""Flags and comments, and how they are taken back."""

from __future__ import annotations

import pytest

from curator.domain.decisions import ChangeKind
from curator.domain.wording import UserError
from curator.services.ports.queue import QueueFilter
from tests.curator.services.fakes import World


def test_a_flag_is_put_on_taken_off_and_undone(filled: World) -> None:
    project, mention = filled.project, filled.mentions(1)[0]
    assert project.notes.flag_mention(mention).kind is ChangeKind.NOTES
    assert [view.mention.flagged for view in project.queue.open(1).mentions] == [True, False, False, False]
    assert project.notes.flag_mention(mention).text == "Removed the flag from “Lidocaine”"
    project.curation.undo()
    assert project.queue.open(1).mentions[0].mention.flagged
    project.curation.undo()
    assert not project.queue.open(1).mentions[0].mention.flagged
    change = project.curation.redo()
    assert change is not None
    assert change.document_ids == (1,)
    assert change.mention_ids == (mention,)
    assert project.queue.open(1).mentions[0].mention.flagged


def test_a_flagged_document_shows_in_the_queue_and_is_undone(filled: World) -> None:
    project = filled.project
    project.notes.flag_document(2)
    assert [row.flagged for row in project.queue.rows(QueueFilter())] == [False, True]
    assert project.queue.open(2).flagged
    change = project.curation.undo()
    assert change is not None
    assert change.document_ids == (2,)
    assert not project.queue.row(2).flagged


def test_comments_stand_with_author_and_time_until_deleted(filled: World) -> None:
    project, mention = filled.project, filled.mentions(1)[1]
    project.notes.comment(1, "  is it the arrest or the block?\n", mention_id=mention)
    project.notes.comment(1, "ask Ben")
    opened = project.queue.open(1)
    (said,) = opened.mentions[1].comments
    assert (said.text, said.author, said.mention_id) == (
        "is it the arrest or the block?",
        project.curation.curator,
        mention,
    )
    assert [one.text for one in opened.comments] == ["ask Ben"]
    assert project.queue.row(1).comments == 2
    project.notes.delete_comment(said.id)
    assert [one.text for one in project.notes.comments(1)] == ["ask Ben"]
    project.curation.undo()
    assert project.queue.open(1).mentions[1].comments == (said,)
    project.curation.undo()
    assert project.notes.comments(1) == [said]
    project.curation.redo()
    assert len(project.notes.comments(1)) == 2


def test_nothing_said_is_not_saved(filled: World) -> None:
    for words in (" \n", "x" * 10_001):
        with pytest.raises(UserError):
            filled.project.notes.comment(1, words)
    assert filled.project.notes.comments(1) == []
    assert not filled.project.curation.can_undo()
