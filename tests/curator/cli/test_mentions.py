"""Mentions, comments and flags on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.curator.cli.conftest import Cli


def mentions(cli: Cli, project: Path, document: str = "1") -> dict[int, tuple[str, str]]:
    rows = cli("mention", "list", project, document, "--json").json["mentions"]
    return {row["mention"]: (row["text"], row["type"]) for row in rows}


def test_a_mention_is_added_moved_retyped_and_deleted(cli: Cli, project: Path) -> None:
    made = cli("mention", "add", project, "2", "39-45", "--type", "Chemical", "--json").json["mentions"][0]
    assert mentions(cli, project, "2")[made] == ("slowed", "Chemical")
    assert cli("mention", "move", project, made, "39-45,49-59").code == 0
    assert mentions(cli, project, "2")[made][0].split()[0] == "slowed"
    assert "from Chemical to Disease" in cli("mention", "retype", project, made, "Disease").out
    assert "Deleted the mention" in cli("mention", "delete", project, made).out
    assert made not in mentions(cli, project, "2")
    cli("undo", project)
    assert mentions(cli, project, "2")[made][1] == "Disease"


def test_two_mentions_are_joined(cli: Cli, project: Path) -> None:
    assert "Joined" in cli("mention", "join", project, 1, 2).out
    found = mentions(cli, project)
    assert 2 not in found
    assert found[1][0].startswith("Lidocaine")


def test_a_place_that_is_none_is_refused(cli: Cli, project: Path) -> None:
    for spans in ("9", "9-3", "3-3", "a-b", "1-2,"):
        answer = cli("mention", "add", project, "1", spans, "--type", "Chemical")
        assert (answer.code, "not a valid span" in answer.err) == (2, True), spans
    assert cli("mention", "move", project, 1, "900-990").code == 2
    assert "Document 99 was not found" in cli("mention", "list", project, "99").err
    listed = cli("mention", "list", project, "1").out.splitlines()
    assert listed[0].split() == ["1", "0-9", "Lidocaine", "·", "Chemical", "·", "MESH:D008012"]


def test_comments_are_made_listed_and_deleted(cli: Cli, project: Path) -> None:
    assert cli("comment", project, "--mention", 1).out == "No comments yet.\n"
    assert "Commented on “Lidocaine”" in cli("comment", project, "Salt?", "--mention", 1, "--curator", "ada").out
    assert cli("comment", project, "Odd title", "--document", "1").code == 0
    here = cli("comment", project, "--mention", 1, "--json").json["comments"]
    assert [(one["author"], one["text"]) for one in here] == [("ada", "Salt?")]
    assert len(cli("comment", project, "--document", "1", "--json").json["comments"]) == 2
    assert "· mention 1: Salt?" in cli("comment", project, "--document", "1").out
    assert cli("comment", project, "--delete", here[0]["id"]).code == 0
    assert cli("comment", project, "--mention", 1, "--json").json["comments"] == []
    assert cli("comment", project, "words").code == 2
    assert "Mention 999 was not found" in cli("comment", project, "words", "--mention", 999).err


def test_flags_are_set_and_taken_off(cli: Cli, project: Path) -> None:
    assert "Flagged “Lidocaine”" in cli("flag", project, "--mention", 1).out
    assert cli("flag", project, "--mention", 1).out == "Already flagged.\n"
    assert cli("facets", project, "--json").json["facets"]["flag"]
    assert "Removed the flag from" in cli("flag", project, "--mention", 1, "--off").out
    assert cli("flag", project, "--mention", 1, "--off", "--json").json == {"change": None}
    assert "Flagged document 3" in cli("flag", project, "--document", "3").out
    assert cli("flag", project).code == 2
