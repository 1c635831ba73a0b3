"""The interrupted actions: commands of the real program, and its services called like by the window."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from curator import bootstrap
from curator.bootstrap import Project
from curator.cli.console import run_steps
from curator.domain.decisions import NilReason, RejectReason, Saving, Verdict
from curator.domain.documents import Split
from curator.domain.entities import EntityDraft
from curator.jobs.bundles import FolderBundleStore
from curator.services.curating.bulk_plan import Audit, AuditState
from curator.services.curating.propagation import PropagationScope
from curator.services.ports.queue import QueueFilter
from curator.services.records.exporting import ExportScope
from curator.services.training.snapshots import write_snapshot
from curator.settings.file import load, save
from curator.storage.db import syncing
from tests.durability.folders import Prepare, undecided, write_linker
from tests.durability.world import Place, Promises, Refused, curator, open_project

SLOW = 0.3
"""Seconds that a slow disk takes to sync."""
Act = Callable[[Place, Promises], None]
Acting = tuple[Act, int, Prepare | None]


def command(*arguments: object) -> Act:
    """One command line; "P", "OUT" and "IN/…" stand for the project, the place of exports and the inputs."""

    def act(place: Place, promises: Promises) -> None:
        curator(*placed(place, arguments))
        promises.saved(1)

    return act


def placed(place: Place, arguments: Iterable[object]) -> list[object]:
    places: dict[object, object] = {"P": place.project, "OUT": place.out}
    return [
        place.inputs / one[3:]
        if isinstance(one, str) and one.startswith("IN/")
        else place.root / one[4:]
        if isinstance(one, str) and one.startswith("OUT.")
        else places.get(one, one)
        for one in arguments
    ]


def opening(place: Place, promises: Promises) -> None:
    open_project(place).close()
    promises.saved(1)


def checking(place: Place, promises: Promises) -> None:
    found = run_steps(bootstrap.check_project(place.project))
    if found.findings:
        raise Refused(found.findings[0].text)
    promises.saved(1)


def decide_one(place: Place, promises: Promises) -> None:
    curator("decide", place.project, undecided(place)[0], "--nil", "not-in-kb")
    promises.saved(1)


def working(work: Callable[[Project], object]) -> Act:
    """What the window does with an open project, as one step."""

    def act(place: Place, promises: Promises) -> None:
        project = open_project(place)
        work(project)
        project.disk.settle()
        project.close()
        promises.saved(1)

    return act


def decide_identical(project: Project) -> None:
    verdict = Verdict.nil(NilReason.TOO_GENERAL)
    mention = next(one for one in all_mentions(project) if not project.curation.current([one]))
    project.curation.decide(mention, verdict)
    others = project.propagation.others(mention, verdict, scope=PropagationScope.PROJECT)
    project.propagation.decide(others, [line.context.mention_id for line in others.lines])


def accept_in_bulk(project: Project) -> None:
    """All of the sample is right."""
    audit = Audit(project.bulk.offer(QueueFilter(), error=0.4, seed=1).plan)
    while audit.state is AuditState.CHECKING:
        project.bulk.check(audit, audit.left[0], True)
    project.bulk.accept(audit)


def remap(project: Project) -> None:
    project.remapping.apply([one for one in project.remapping.plan().lines if one.proposed is not None])


def deciding(count: int) -> Act:
    """Decisions as the window makes them: the key is answered at once, and “saved” said when the log is synced."""

    def act(place: Place, promises: Promises) -> None:
        project = open_project(place)
        mentions = all_mentions(project)
        asked: list[tuple[int, int]] = []  # how many syncs were asked for after which step

        def told(saving: Saving) -> None:
            steps = [step for step, at in tuple(asked) if saving.holds(at)]
            if steps:
                promises.saved(max(steps))

        end = project.disk.on_saving(told)
        verdicts = itertools.cycle([Verdict.nil(), Verdict.reject(), Verdict.nil(NilReason.TOO_GENERAL)])
        for step, (mention, verdict) in enumerate(zip(itertools.cycle(mentions), verdicts, strict=False), start=1):
            if step > count:
                break
            project.curation.decide(mention, verdict)
            asked.append((step, project.disk.saving.asked))
            promises.answered(step)
        project.disk.settle()
        promises.saved(count)
        end()
        project.close()

    return act


def all_mentions(project: Project) -> list[int]:
    with project.curation._store.read() as unit:
        return [one.id for document in unit.documents.ids() for one in unit.mentions.of_document(document)]


def leaving(place: Place, promises: Promises) -> None:
    """Steps of several kinds in one opened project, each called saved after `settle`."""
    project = open_project(place)
    mention = all_mentions(project)[0]
    steps: list[Callable[[], object]] = [
        lambda: project.curation.decide(mention, Verdict.reject(RejectReason.WRONG_SPAN)),
        lambda: project.notes.flag_mention(mention),
        lambda: project.guidelines.set_text("# Rules\n"),
        lambda: project.curation.undo(),
        lambda: project.curation.redo(),
    ]
    for number, step in enumerate(steps, start=1):
        step()
        promises.answered(number)
        project.disk.settle()
        promises.saved(number)
    project.close()


def handing_out(place: Place, promises: Promises) -> None:
    """What an export, a release or the input of a training contains is saved in the project first, also on a disk that
    takes longer to sync than they take to write."""
    synced = syncing.sync_file

    def slowly(path: Path) -> None:
        time.sleep(SLOW)
        synced(path)

    syncing.sync_file = slowly  # of this process, which ends with the act
    project = open_project(place)
    outside = place.base / "temporary" / "handed-out"
    shutil.rmtree(outside, ignore_errors=True)
    outside.mkdir()
    works: list[Callable[[], object]] = [
        lambda: project.exporting.export(outside / "gold.pubtator", "pubtator"),
        lambda: project.release.export(outside / "release.zip", scope=ExportScope.DECIDED),
        lambda: list(write_snapshot(project.exporting._store, outside / "input", [Split.TRAIN], kb_hash="k")),
    ]
    for number, (mention, work) in enumerate(zip(all_mentions(project), works, strict=False), start=1):
        project.curation.decide(mention, Verdict.nil())
        promises.answered(number)
        work()
        promises.saved(number)
    project.close()


def settings(place: Place, promises: Promises) -> None:
    loaded = load()
    save(replace(loaded.settings, curator_name="Grace"), unknown=loaded.unknown)
    promises.saved(1)


def new_elsewhere(place: Place) -> None:
    """What `new` left is gone with the next new project there, or the next opening."""
    curator("new", place.root / "q.curation")
    shutil.rmtree(place.root / "q.curation")
    if not place.project.exists():
        curator("new", place.project)


def publishing(place: Place, promises: Promises) -> None:
    """What a training does at its end: fill a staging folder, name it, and put it into use."""
    project = open_project(place)
    bundles = FolderBundleStore(place.project / "bundles")
    staging = bundles.new_staging()
    try:
        write_linker(staging, kb_hash="k", name="linker-3")
    except OSError as error:  # which a training's process says
        raise Refused(str(error)) from error
    info = bundles.promote(staging)
    project.retraining.promote(info.id, reason="better")
    project.disk.settle()
    promises.saved(1)
    project.close()


def repeated(*arguments: object) -> Acting:
    """A command, one step, and the same command once more."""

    def again(place: Place) -> None:
        curator(*placed(place, arguments))

    return command(*arguments), 1, again


def settings_again(place: Place) -> None:
    silent = os.open(os.devnull, os.O_WRONLY)
    settings(place, Promises(silent, lambda _: None))
    os.close(silent)


def make_entity(project: Project) -> None:
    mention = next(one for one in all_mentions(project) if not project.curation.current([one]))
    project.provisional.make(EntityDraft("A new syndrome", ("Disease",)), [mention])
