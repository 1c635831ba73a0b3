"""The scenarios, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.durability import acts, backing, jobs, marking
from tests.durability.acts import Act, command, deciding, repeated
from tests.durability.folders import (
    FOLDER,
    FORMATS,
    KBS,
    ROUND,
    Prepare,
    base,
    decided,
    empty,
    killed,
    nothing,
    settings_saved,
    suggested,
    undone,
    with_folder,
    with_formats,
    with_kb,
    with_linkers,
    with_newer_kb,
    with_round,
    with_round_file,
)
from tests.durability.world import Place

BURST = 100
NOTED = frozenset({"meta"})
FILES = frozenset({"files"})


@dataclass(frozen=True, slots=True)
class Scenario:
    """`prepare` fills the folder before each run. `act` is what is interrupted; it promises `steps` steps.

    `again` is what its user does next (the same command once more); only then must no leftover be there, and the
    outcome be that of an undisturbed run. Where it is None, opening the project is all that is needed.
    `free` are tables that may differ until it is done: the note of an unfinished import. "files": of several files,
    each whole, some may be there. Otherwise the state is that of one of the first `others` steps, or of any. With
    `commits` it may be stopped between any two of its transactions, and counts as several steps. `look` raises
    AssertionError about what the next start finds, and returns what else is a part of the state. Without `repeats`,
    what the user does next does not do the work again. `leaves_out`: files or rows that cannot be read are left out,
    and said.
    """

    name: str
    prepare: Prepare
    act: Act
    steps: int = 1
    again: Prepare | None = None
    free: frozenset[str] = frozenset()
    others: int | None = None
    commits: bool = False
    repeats: bool = True
    look: Callable[[Place], dict[str, str]] | None = None
    leaves_out: bool = False


def scenarios() -> list[Scenario]:
    """All, those that matter most first."""
    imports = [
        Scenario(
            f"import {name}",
            with_formats,
            command("import", "--gold", "P", f"IN/{file}"),
            free=NOTED,
            commits=name == "zeshel",  # which has two files
            leaves_out=name == "zeshel",
        )
        for name, file in FORMATS.items()
    ]
    kbs = [
        Scenario(f"kb import {name}", empty, command("kb", "import", "P", f"IN/{seed}"), free=NOTED, others=1)
        for name, seed in KBS.items()
    ]
    return [
        Scenario("new", nothing, command("new", "P"), again=acts.new_elsewhere),
        Scenario("decide", base, acts.decide_one),
        Scenario("decide in the window", base, deciding(1)),
        Scenario("burst of 100", base, deciding(BURST), steps=BURST),
        Scenario("steps", base, acts.leaving, steps=5),
        Scenario("hand out", base, acts.handing_out, steps=3),
        Scenario("annotations", marking.inconsistent, marking.marking, steps=marking.MARKS),
        Scenario("back over steps", marking.stepped, marking.going_back, steps=2),
        Scenario(
            "backup at close",
            backing.backed_up,
            backing.with_backups(backing.closing),
            again=backing.an_hour_later,
            repeats=False,
            look=backing.offered,
        ),
        Scenario(
            "backup after a command",
            backing.backed_up,
            backing.after_a_command,
            again=backing.an_hour_later,
            repeats=False,
            commits=True,
            look=backing.offered,
        ),
        Scenario(
            "back up now",
            backing.backed_up,
            backing.with_backups(backing.backing_up_now),
            steps=2,
            again=backing.an_hour_later,
            repeats=False,
            look=backing.counted,
        ),
        Scenario(
            "restore",
            backing.changed_since,
            backing.with_backups(command("restore", "P", "--number", 1)),
            again=backing.restoring,
            free=FILES,
            look=backing.kept,
        ),
        Scenario(
            "restore a lost folder",
            backing.lost,
            backing.with_backups(command("restore", "P", "--number", 1)),
            again=backing.restoring_if_lost,
            look=backing.kept,
        ),
        Scenario(
            "salvage",
            backing.changed_since,
            *repeated("salvage", "P", "-o", "OUT.salvaged.jsonl"),
            leaves_out=True,
        ),
        Scenario("open", decided, acts.opening),
        Scenario("check", decided, acts.checking),
        Scenario("lock taken over", killed, acts.opening),
        Scenario("undo", decided, command("undo", "P")),
        Scenario("redo", undone, command("redo", "P")),
        Scenario("accept", suggested, acts.working(acts.accept_in_bulk), commits=True),
        Scenario("identical", base, acts.working(acts.decide_identical), commits=True),
        Scenario("import pubtator", with_kb, command("import", "--gold", "P", "IN/gold.pubtator"), free=NOTED),
        Scenario("import many", with_kb, command("import", "--gold", "P", "IN/many.pubtator"), free=NOTED),
        *imports,
        Scenario(
            "import a folder",
            with_folder,
            command("import", "P", f"IN/{FOLDER}"),
            free=NOTED,
            commits=True,
            leaves_out=True,
        ),
        Scenario("undo-import", base, acts.working(lambda project: project.imports.undo(project.imports.last()))),
        Scenario("kb import", empty, command("kb", "import", "P", "IN/kb.jsonl"), free=NOTED, others=1),
        *kbs,
        Scenario("newer kb", base, command("kb", "import", "P", "IN/kb-2.jsonl"), free=NOTED, others=1),
        Scenario("remap", with_newer_kb, acts.working(acts.remap)),
        Scenario("new entity", base, acts.working(acts.make_entity)),
        Scenario("export", decided, *repeated("export", "P", "OUT.gold.pubtator", "--format", "pubtator")),
        Scenario("export to a folder", decided, *repeated("export", "P", "OUT", "--format", "brat")),
        Scenario("export to a zip", decided, *repeated("export", "P", "OUT.gold.zip", "--format", "brat")),
        Scenario("export table", decided, *repeated("export", "P", "OUT.gold.xlsx", "--format", "table")),
        Scenario("kb export", base, *repeated("kb", "export", "P", "OUT.kb.jsonl"), free=FILES),
        Scenario("audit", decided, *repeated("audit", "P", "OUT.audit.csv")),
        Scenario("release", decided, *repeated("release", "P", "OUT", "--scope", "decided")),
        Scenario("release as zip", decided, *repeated("release", "P", "OUT.r.zip", "--scope", "decided")),
        Scenario("use a linker", with_linkers, command("linkers", "P", "--use", "linker-1", "--reason", "faster")),
        Scenario("roll back", with_linkers, command("linkers", "P", "--rollback")),
        Scenario("delete a linker", with_linkers, command("linkers", "P", "--delete", "linker-1"), free=NOTED),
        Scenario("publish a linker", with_linkers, acts.publishing, free=NOTED),
        Scenario("index", jobs.trainable, jobs.indexing, free=NOTED | FILES),
        Scenario("train", jobs.trainable, jobs.training, again=jobs.train_after_all, free=NOTED | FILES),
        Scenario("resume a training", jobs.interrupted, jobs.resuming, again=jobs.train_after_all, free=NOTED | FILES),
        Scenario("calibrate", jobs.calibratable, jobs.calibrating, again=jobs.calibrate_after_all, free=NOTED | FILES),
        Scenario("round", base, command("rounds", "new", "P", ROUND, "--documents", 2)),
        Scenario("round export", with_round, *repeated("rounds", "export", "P", ROUND, "OUT.round.jsonl")),
        Scenario("round import", with_round_file, command("rounds", "import", "P", "OUT.round.jsonl")),
        Scenario("settings", settings_saved, acts.settings, again=acts.settings_again),
    ]
