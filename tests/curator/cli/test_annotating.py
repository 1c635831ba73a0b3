"""Attributes on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.curator.cli.conftest import Cli


def test_attributes_are_defined_set_and_listed(cli: Cli, project: Path) -> None:
    assert "No attributes yet" in cli("attributes", "list", project).out
    assert "Added the attribute “negation”" in cli("attributes", "add", project, "negation").out
    assert cli("attributes", "add", project, "severity", "mild", "severe", "--type", "SpecificDisease").code == 0
    assert cli("attributes", "add", project, "negation", "possible").code == 0
    assert "Set negation of 2 mentions to possible" in cli("mention", "set", project, "negation=possible", 1, 2).out
    assert cli("mention", "set", project, "severity=mild", 1).code == 2
    rows = cli("mention", "list", project, "1", "--json").json["mentions"]
    assert [row["attributes"] for row in rows[:3]] == [{"negation": "possible"}, {"negation": "possible"}, {}]
    assert cli("mention", "list", project, "1").out.splitlines()[0].endswith("negation: possible")
    assert cli("mention", "set", project, "negation=", 1).code == 0
    listed = cli("attributes", "list", project).out.splitlines()
    assert listed[0] == "negation"
    assert "  possible: 1 mention" in listed
    assert "severity (SpecificDisease)" in listed


def test_a_value_is_set_for_the_other_mentions_with_the_same_text(cli: Cli, project: Path) -> None:
    cli("attributes", "add", project, "negation")
    listed = cli("mention", "set", project, "negation=negated", 1, "--identical")
    assert "→ negation: negated" in listed.out.splitlines()[0]
    assert "Nothing was changed; --yes changes the ticked mentions." in listed.out
    assert not any(row["attributes"] for row in cli("mention", "list", project, "1", "--json").json["mentions"])
    rows = [
        one
        for group in cli("mention", "set", project, "negation=negated", 1, "--identical", "--json").json["groups"]
        for one in group["lines"]
    ]
    assert rows
    done = cli("mention", "set", project, "negation=negated", 1, "--identical", "--yes", "--json").json
    assert (done["attribute"], done["value"], len(done["changes"])) == ("negation", "negated", 1)
    ticked = sum(one["ticked"] for one in rows)
    assert f"negated: {ticked + 1} mention" in cli("attributes", "list", project).out
    assert cli("undo", project).code == 0
    assert "negated: 0 mentions" in cli("attributes", "list", project).out
    assert "takes one MENTION" in cli("mention", "set", project, "negation=negated", 1, 2, "--identical").err
    assert "require --identical" in cli("mention", "set", project, "negation=negated", 1, "--yes").err
    assert "is not in the list" in cli("mention", "set", project, "negation=", 1, "--identical", "--tick", 2).err


def test_names_change_and_what_is_deleted_comes_back(cli: Cli, project: Path) -> None:
    cli("attributes", "add", project, "negation")
    cli("mention", "set", project, "negation=negated", 1)
    assert cli("attributes", "rename", project, "negation", "denied", "--value", "negated").code == 0
    assert cli("attributes", "rename", project, "negation", "polarity").code == 0
    deleted = cli("attributes", "delete", project, "polarity", "--value", "denied", "--json").json
    assert len(deleted["notes"]) == 1
    assert "1 mention keeps its value" in deleted["notes"][0]
    assert "attributes" in cli("mention", "list", project, "1", "--json").json["mentions"][0]
    assert "denied: 1 mention – deleted" in cli("attributes", "list", project).out
    assert cli("attributes", "restore", project, "polarity", "--value", "denied").code == 0
    assert cli("attributes", "limit", project, "polarity", "Chemical").code == 0
    assert cli("attributes", "delete", project, "polarity").code == 0
    assert "This project has no attribute “polarity”" in cli("mention", "set", project, "polarity=denied", 1).err
    assert cli("attributes", "restore", project, "polarity").code == 0
    rows = cli("mention", "list", project, "1", "--json").json["mentions"]
    assert rows[0]["attributes"] == {"polarity": "denied"}


def test_what_is_not_there_is_listed(cli: Cli, project: Path) -> None:
    assert "is not a preset (negation, subject, time, certainty)" in cli("attributes", "add", project, "x").err
    cli("attributes", "add", project, "negation")
    assert "Write NAME=VALUE" in cli("mention", "set", project, "negation", 1).err
    assert "Its values: affirmed, negated" in cli("mention", "set", project, "negation=x", 1).err
    assert "Deleted here: none" in cli("attributes", "restore", project, "negation").err
    assert cli("attributes", "rename", project, "negation", "negation").out == "Nothing changed.\n"


def test_relations_are_listed_added_and_deleted(cli: Cli, project: Path) -> None:
    listed = cli("relations", project, "--document", "1").out
    assert listed == "entities: CID  Lidocaine → Heart Arrest  [CID D008012 D006323]\n"
    added = cli("relations", project, "--document", "1", "--add", 1, 4, "causes", "--curator", "ada")
    assert added.out.splitlines()[0] == "Added the relation “Lidocaine” → “blorbitis” (causes)."
    rows = cli("relations", project, "--json").json["relations"]
    own = next(one for one in rows if one["added"])
    assert (own["document"], own["type"], own["author"]) == ("1", "causes", "ada")
    assert [(end["mention"], end["text"]) for end in own["ends"]] == [(1, "Lidocaine"), (4, "blorbitis")]
    assert cli("relations", project, "--add", 1, 3, "CID", "--entities").out.endswith("“Arrhythmia” (CID).\n")
    for name in (own["name"], "CID D008012 D006323"):
        assert "Deleted the relation" in cli("relations", project, "--document", "1", "--delete", name).out
    left = cli("relations", project, "--document", "1", "--json").json["relations"]
    assert [one["kind"] for one in left] == ["entities"]
    cli("undo", project)
    assert len(cli("relations", project, "--document", "1", "--json").json["relations"]) == 2


def test_what_is_no_relation_is_refused(cli: Cli, project: Path) -> None:
    assert "needs --document" in cli("relations", project, "--delete", "x").err
    assert "--entities goes with --add" in cli("relations", project, "--entities").err
    assert "not the number of a mention" in cli("relations", project, "--add", "x", 1, "CID").err
    assert "not in this document" in cli("relations", project, "--document", "2", "--add", 1, 2, "CID").err
    assert "has no relation" in cli("relations", project, "--document", "1", "--delete", "+7").err
