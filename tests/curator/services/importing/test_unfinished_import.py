"""A stopped import resumes with its choices, after anything done in the meantime."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from curator.domain.documents import Split
from curator.domain.imports import Changed
from curator.domain.wording import UserError
from curator.services.importing.import_comparing import fingerprint
from curator.services.importing.import_reading import ImportChoices
from curator.services.importing.importing import ImportReport
from curator.services.ports.queue import QueueFilter
from tests.curator.services.fakes import World, document, finish
from tests.curator.services.importing.test_changed_texts import FIRST, OLD, SECOND, bring, record


def stop_after(world: World, files: int, paths: list[Path], **wish: Any) -> None:
    """Cancel where the next file begins."""
    imported: list[object] = []
    stop_hearing: Callable[[], None] = world.project.events.subscribe(imported.append)
    steps = world.project.importing.documents(paths, **wish)
    while len(imported) < files:
        next(steps)
    steps.close()
    stop_hearing()


def go_on(world: World) -> ImportReport:
    report: ImportReport = finish(world.project.importing.go_on())
    return report


def pubtator(world: World, *numbers: int) -> list[Path]:
    return [world.write(document(number), name=f"{number}.pubtator") for number in numbers]


def seen_by(world: World, path: Path) -> ImportChoices:
    """Take the one text that changed, having looked at it."""
    [changed] = finish(world.project.importing.preview(path)).changed
    return ImportChoices(
        of={changed.document_id: Changed.TAKE}, seen={changed.document_id: fingerprint(changed.source)}
    )


def test_splits_and_gold_are_kept(world: World) -> None:
    world.kb()
    stop_after(world, 1, pubtator(world, 1, 2, 3), gold=True, split=Split.TEST, hold_out=0)
    assert world.project.queue.counts().documents_by_split[Split.TEST] == 1
    report = go_on(world)
    assert report.counts["linked"] == 6, "gold of both files that were left"
    assert world.project.queue.counts().documents_by_split[Split.TEST] == 3
    assert world.project.importing.unfinished() is None


def test_what_was_chosen_for_a_document_is_kept(world: World) -> None:
    bring(world, FIRST)
    newer = world.write(SECOND)
    stop_after(world, 1, [*pubtator(world, 1), newer], choices=seen_by(world, newer))
    assert "In this report" not in world.project.queue.open(1).document.text
    go_on(world)
    assert "In this report" in world.project.queue.open(1).document.text


def test_a_choice_holds_only_for_what_was_looked_at(world: World) -> None:
    bring(world, FIRST)
    newer = world.write(SECOND)
    stop_after(world, 1, [*pubtator(world, 1), newer], choices=seen_by(world, newer))
    world.write(SECOND.replace("Nothing stopped", "Everything stopped"))
    report = go_on(world)
    assert world.project.queue.open(1).document.text.endswith("Aspirin was stopped on day 3.")
    assert any("has changed in the file since you chose" in one.problem.text for one in report.problems)


def test_a_choice_for_all_documents_is_kept(world: World) -> None:
    bring(world, FIRST)
    stop_after(world, 1, [*pubtator(world, 1), world.write(SECOND)], choices=ImportChoices(Changed.TAKE))
    go_on(world)
    assert "In this report" in world.project.queue.open(1).document.text


def test_mentions_join_a_text_that_came_before_the_stop(world: World) -> None:
    texts, mentions = world.write(record(OLD), name="texts.pubtator"), world.write(FIRST, name="mentions.pubtator")
    stop_after(world, 1, [texts, mentions])
    go_on(world)
    assert world.project.queue.count(QueueFilter()) == 1
    assert len(world.mentions(1)) == 3


def test_both_parts_are_undone_as_one_import(world: World) -> None:
    stop_after(world, 1, pubtator(world, 1, 2, 3))
    world.documents(1, first=9, name="another.pubtator")
    go_on(world)
    assert len(world.project.imports.last()) == 3


def test_an_import_of_other_files_leaves_the_stopped_one(world: World) -> None:
    one, two, three = pubtator(world, 1, 2, 3)
    stop_after(world, 1, [one, two, three])
    finish(world.project.importing.documents([two]))
    stopped = world.project.importing.unfinished()
    assert stopped is not None
    assert stopped.left == (three,)
    finish(world.project.importing.documents([three]))
    assert world.project.importing.unfinished() is None
    with pytest.raises(UserError, match="no interrupted import to resume"):
        go_on(world)


def test_of_a_single_file_only_a_death_of_the_program_is_left(world: World) -> None:
    steps = world.project.importing.documents(pubtator(world, 1))
    next(steps)
    left = world.project.importing.unfinished()  # what the next start would find, had the program died here
    assert left is not None
    assert left.words == "The import of 1.pubtator was interrupted: nothing was imported."
    steps.close()
    assert world.project.importing.unfinished() is None


@pytest.mark.parametrize("files", [1, 3])
def test_a_file_becomes_visible_in_one_step_with_the_note_of_what_is_left(
    world: World, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    paths = pubtator(world, *range(1, files + 1))
    write, seen = type(world.store).write, []

    @contextmanager
    def watched(store: Any) -> Iterator[Any]:
        with write(store) as unit:
            yield unit
        left = world.project.importing.unfinished()
        visible = world.project.queue.count(QueueFilter())
        seen.append((visible, left.done if left is not None else None))

    monkeypatch.setattr(type(world.store), "write", watched)
    finish(world.project.importing.documents(paths))
    assert set(seen) == {*((done, done) for done in range(files)), (files, None)}


def test_a_stopped_import_is_told_until_it_was_answered(world: World) -> None:
    stop_after(world, 2, pubtator(world, 1, 2, 3))
    told = world.project.importing.to_tell()
    assert told is not None
    assert told.words.startswith("The last import was interrupted: 2 of 3 files were imported")
    world.project.importing.answer_unfinished()
    assert world.project.importing.to_tell() is None
    world.documents(1, first=9, name="another.pubtator")
    assert world.project.importing.to_tell() is None
    assert world.project.importing.unfinished() is not None


WHOLE = {"paths": ["a"], "split": "train", "gold": True, "hold_out": 0}


@pytest.mark.parametrize(
    "record",
    [
        *("{", "[]", "7", "[" * 100_000),
        *map(json.dumps, ({}, {**WHOLE, "paths": 3}, {**WHOLE, "paths": [1]}, {**WHOLE, "split": "no"})),
        *(json.dumps({**WHOLE, "hold_out": one}) for one in ([], "x", float("inf"))),
        *(json.dumps({**WHOLE, "choices": one}) for one in (3, "x")),
    ],
)
def test_a_record_that_a_stranger_made_up_is_no_import(world: World, record: str) -> None:
    with world.store.write() as unit:
        unit.meta.set("import.unfinished", record)
    assert world.project.importing.unfinished() is None
    world.documents(1, name="another.pubtator")


def test_the_format_that_was_chosen_is_kept(world: World) -> None:
    paths = [world.write(document(number), name=f"{number}.txt") for number in (1, 2)]
    stop_after(world, 1, paths, format_name="text")
    report = go_on(world)
    assert report.counts["documents"] == 1
    assert "mentions" not in report.counts or not report.counts["mentions"], "read as plain text"
    assert {one.record.file.format for one in world.project.imports.files()} == {"text"}
