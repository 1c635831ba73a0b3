"""A stopped import is resumed by importing the same files again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from curator.domain.documents import Changed, Split
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


def test_the_files_that_are_left_are_imported_and_the_others_left_out(world: World) -> None:
    world.kb()
    paths = [world.write(document(number), name=f"{number}.pubtator") for number in (1, 2, 3)]
    stop_after(world, 1, paths, gold=True, split=Split.TEST)
    assert world.project.queue.counts().documents_by_split[Split.TEST] == 1
    report: ImportReport = finish(world.project.importing.documents(paths, gold=True, split=Split.TEST))
    assert report.counts["linked"] == 6, "gold of both files that were left"
    assert "already imported as 1.pubtator; nothing was changed" in str(report.problems)
    assert world.project.queue.counts().documents_by_split[Split.TEST] == 3


def test_mentions_join_a_text_that_came_before_the_stop(world: World) -> None:
    paths = [world.write(record(OLD), name="texts.pubtator"), world.write(FIRST, name="mentions.pubtator")]
    stop_after(world, 1, paths)
    finish(world.project.importing.documents(paths))
    assert world.project.queue.count(QueueFilter()) == 1
    assert len(world.mentions(1)) == 3


def test_a_choice_holds_only_for_what_was_looked_at(world: World) -> None:
    bring(world, FIRST)
    newer = world.write(SECOND)
    [changed] = finish(world.project.importing.preview(newer)).changed
    seen = {changed.document_id: fingerprint(changed.source)}
    choices = ImportChoices(of={changed.document_id: Changed.TAKE}, seen=seen)
    world.write(SECOND.replace("Nothing stopped", "Everything stopped"))
    report = finish(world.project.importing.documents([newer], choices=choices))
    assert world.project.queue.open(1).document.text.endswith("Aspirin was stopped on day 3.")
    assert any("has changed in the file since you chose" in one.problem.text for one in report.problems)
