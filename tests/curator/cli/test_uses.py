"""uses and kb show: one entity over the whole project, moving some of its uses, and its address at its source."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.curator.cli.conftest import Cli

ARREST, ARRHYTHMIA = "MESH:D006323", "MESH:D001145"


def test_every_use_is_listed_as_text_json_and_csv(cli: Cli, project: Path, tmp_path: Path) -> None:
    listed = cli("uses", project, ARREST, "--split", "train", "--json").json
    assert (listed["entity"], listed["name"], listed["all"], listed["gone"]) == (ARREST, "Heart Arrest", 8, False)
    assert listed["strings"] == [{"text": "cardiac arrest", "key": "cardiac arrest", "number": 8}]
    first = listed["uses"][0]
    assert (first["text"], first["left"], first["probability"], first["split"]) == (
        "cardiac arrest",
        "Lidocaine and ",
        None,
        "train",
    )
    out = tmp_path / "uses.csv"
    text = cli("uses", project, ARREST, "--order", "document", "--csv", out).out
    assert text.startswith("MESH:D006323  Heart Arrest: 8 uses in 8 documents\ncardiac arrest (8)\n")
    assert "…Lidocaine and [cardiac arrest] Lidocaine slowed" in text
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 8
    assert rows[0]["text"] == "cardiac arrest"


def test_filters_narrow_what_is_listed(cli: Cli, project: Path) -> None:
    def number(*options: object) -> int:
        return len(cli("uses", project, ARREST, *options, "--json").json["uses"])

    assert number("--string", "Cardiac Arrests") == 8  # in any spelling
    assert number("--string", "gout") == 0
    assert number("--by", "nobody") == 0
    assert number("--split", "test") == 0
    assert "No use matches." in cli("uses", project, ARREST, "--split", "test").out


def test_some_are_moved_or_marked_nil_only_when_it_is_said_so(cli: Cli, project: Path) -> None:
    ids = [one["mention"] for one in cli("uses", project, ARREST, "--json").json["uses"]]
    some = ["--mention", ids[0], "--mention", ids[1]]
    asked = cli("uses", project, ARREST, *some, "--to", ARRHYTHMIA)
    assert "2 uses would be changed. Nothing was changed; add --yes to change them." in asked.out
    assert cli("uses", project, ARREST, "--json").json["all"] == 8
    done = cli("uses", project, ARREST, *some, "--to", ARRHYTHMIA, "--yes", "--curator", "ada", "--json").json
    assert done["change"]["text"] == "Moved 2 uses of “Heart Arrest” to “Arrhythmia”"
    assert done["change"]["actor"] == "ada"
    assert cli("uses", project, ARREST, "--json").json["all"] == 6
    assert "Marked 6 uses" in cli("uses", project, ARREST, "--nil", "too-general", "--yes").out
    cli("undo", project)
    cli("undo", project)
    assert cli("uses", project, ARREST, "--json").json["all"] == 8


def test_what_is_wrong_is_said(cli: Cli, project: Path) -> None:
    for arguments, words in (
        (("MESH:X",), "no entity MESH:X, and no mention is linked"),
        ((ARREST, "--mention", 99999), "Mention 99999 is not in the list"),
        ((ARREST, "--to", "MESH:X", "--yes"), "Entity MESH:X was not found"),
        ((ARREST, "--to", ARREST, "--yes"), "already"),
        ((ARREST, "--to", ARRHYTHMIA, "--nil", "not-in-kb"), "Use one of them"),
        ((ARREST, "--yes"), "--yes requires"),
    ):
        answer = cli("uses", project, *arguments)
        assert answer.code == 2
        assert words in answer.err
    assert cli("uses", project, ARREST, "--json").json["all"] == 8


def test_a_record_is_shown_with_its_address(cli: Cli, project: Path, tmp_path: Path) -> None:
    shown = cli("kb", "show", project, ARREST).out
    assert shown.startswith("MESH:D006323  Heart Arrest  (Disease)\n")
    assert "Page: https://meshb.nlm.nih.gov/record/ui?ui=D006323" in shown
    assert cli("kb", "show", project, "OMIM:115000", "--json").json["id"] == ARRHYTHMIA
    assert "no entity MESH:X" in cli("kb", "show", project, "MESH:X").err
    newer = tmp_path / "kb2.jsonl"
    newer.write_text(json.dumps({"id": "4711", "name": "Cold"}) + "\n", encoding="utf-8")
    cli("kb", "import", project, newer)
    assert "“4711” has no prefix" in cli("kb", "show", project, "4711").out
    gone = cli("kb", "show", project, ARREST, "--json").json
    assert (gone["gone"], gone["name"]) == (True, "Heart Arrest")
    assert "No longer in the knowledge base" in cli("uses", project, ARREST).out
