"""search: hits as text and as JSON, refusals, and mentions made of all hits."""

from __future__ import annotations

from pathlib import Path

from tests.curator.cli.conftest import Cli

LIDOCAINE = "MESH:D008012"


def test_hits_are_listed_with_what_is_there(cli: Cli, project: Path) -> None:
    text = cli("search", project, "lidocaine", "--limit", 2).out.splitlines()
    assert text[0] == "16 hits in 8 documents; 8 documents searched"
    assert text[1].startswith("1  0-9  …[Lidocaine] and cardiac arrest")
    assert text[1].endswith("Chemical, Lidocaine)")
    assert text[2].endswith("(abstract)")
    assert text[3] == "… and 14 more; --limit shows more."
    found = cli("search", project, r"lido\w+|card\w+", "--pattern", "--hits", "overlapping", "--json").json
    assert (found["number"], found["documents"], found["searched"]) == (8, 8, 8)
    first = found["hits"][0]
    assert (first["text"], first["exact"], first["mention"]["text"]) == ("cardiac", False, "cardiac arrest")
    assert cli("search", project, "LIDOCAINE", "--case").out == "No hits in 8 documents.\n"
    assert "only empty strings" in cli("search", project, "(?=a)", "--pattern").out


def test_what_cannot_be_searched_for_is_said_with_its_place(cli: Cli, project: Path) -> None:
    answer = cli("search", project, "(heart", "--pattern")
    assert (answer.code, answer.err.partition(" Correct")[0]) == (
        2,
        "Error: The pattern is not valid at character 6: missing ).",
    )
    for wrong in (["--yes"], ["--link", LIDOCAINE], ["--undecided", "--nil", "not-in-kb"]):
        assert cli("search", project, "heart", *wrong).code == 2


def test_all_hits_are_made_and_linked_only_with_yes(cli: Cli, project: Path) -> None:
    options = ("--type", "Chemical", "--link", LIDOCAINE, "--limit", 1)
    assert cli("search", project, "lidocaine", *options).out.endswith(
        "Nothing was changed; add --yes to make mentions of all hits.\n"
    )
    made = cli("search", project, "lidocaine", *options, "--yes", "--curator", "ada")
    assert made.out.splitlines()[-1] == (
        "Made 8 mentions from a search, linked to “Lidocaine”. `curator undo P` undoes it. "
        "Left out: 8 are mentions already."
    )
    again = cli("search", project, "lidocaine", *options, "--yes")
    assert (again.code, "16 are mentions already" in again.err) == (2, True)
    assert cli("search", project, "lidocaine", "--hits", "new", "--json").json["number"] == 0
    assert cli("undo", project).code == 0
    assert cli("search", project, "lidocaine", "--hits", "new", "--json").json["number"] == 8
