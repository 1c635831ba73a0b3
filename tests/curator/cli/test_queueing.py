"""Facets, lists of work, the hold-out and guidelines on the command line."""

from __future__ import annotations

from pathlib import Path

from curator.bootstrap import open_project
from tests.curator.cli.conftest import Cli


def test_facets_count_what_is_chosen(cli: Cli, project: Path) -> None:
    whole = cli("facets", project, "--json").json
    assert whole["mentions"] == 32
    assert whole["facets"]["state"] == {"link": 24, "nil": 8}
    some = cli("facets", project, "--where", "state=nil", "--where", "split=validation", "--json").json
    assert some["mentions"] == 2
    assert some["facets"]["split"] == {"train": 6, "validation": 2}
    assert "  nil" in cli("facets", project).out
    assert cli("facets", project, "--where", "probability=0..1", "--json").json["mentions"] == 0, "nothing is suggested"
    assert "is not a range" in cli("facets", project, "--where", "probability=a..b").err
    wrong = cli("facets", project, "--where", "colour=red")
    assert wrong.code == 2
    assert "FACET=VALUE" in wrong.err


def test_work_lists_what_is_undecided(cli: Cli, project: Path) -> None:
    assert cli("work", project).out == "No undecided mentions.\n"
    found = open_project(project, linker=False)
    for mention in (1, 6):
        found.curation.clear(mention)
    found.close()
    rows = cli("work", project, "--order", "uncertain", "--json").json["mentions"]
    assert [(row["mention_id"], row["external_id"]) for row in rows] == [(1, "1"), (6, "2")]
    chemical = cli("work", project, "--where", "type=Chemical")
    assert chemical.out.split() == ["1", "–", "Lidocaine", "·", "Chemical", "·", "1"]
    assert "Filter “mine” was not found" in cli("work", project, "--filter", "mine").err


def test_the_hold_out_is_empty_without_decisions_of_people(cli: Cli, project: Path) -> None:
    report = cli("holdout", project, "--json").json
    assert report == {"without": {"decided": 0, "agreed": 0}, "seen": {"decided": 0, "agreed": 0}, "sway": None}


def test_guidelines_are_set_and_written(cli: Cli, project: Path, tmp_path: Path) -> None:
    assert cli("guidelines", project).out == "\n"
    file = tmp_path / "guide.md"
    file.write_text("# Drugs\n\nSalts go to the base – always.\n", encoding="utf-8")
    assert "40 characters" in cli("guidelines", project, "--set", file).out
    assert cli("guidelines", project).out == "# Drugs\n\nSalts go to the base – always.\n\n"
    assert cli("guidelines", project, "--json").json == {"guidelines": file.read_text(encoding="utf-8")}
    file.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in cli("guidelines", project, "--set", file).err
