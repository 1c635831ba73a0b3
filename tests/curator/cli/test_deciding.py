"""Deciding several mentions, and all identical ones in context, on the command line."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from curator.bootstrap import open_project
from tests.curator.cli.conftest import Cli

ENTITY = "MESH:D008012"


@pytest.fixture
def undecided(cli: Cli, project: Path) -> list[int]:
    """The mentions “Lidocaine” of all eight documents, without decisions."""
    rows = cli("mention", "list", project, "1", "--json").json["mentions"]
    assert [row["mention"] for row in rows if row["text"] == "Lidocaine"] == [1]
    ids = list(range(1, 33, 4))
    assert cli("decide", project, *ids, "--clear").code == 0
    return ids


def decided(project: Path) -> dict[int, tuple[str, ...]]:
    found = open_project(project, linker=False, read_only=True)
    verdicts = {one: made.verdict.entity_ids for one, made in found.curation.current(list(range(1, 33, 4))).items()}
    found.close()
    return verdicts


def test_several_are_one_step(cli: Cli, project: Path, undecided: list[int]) -> None:
    assert decided(project) == {}
    answer = cli("decide", project, *undecided[:3], "--link", ENTITY)
    assert "Linked 3 mentions of “Lidocaine” to Lidocaine" in answer.out
    assert len(decided(project)) == 3
    assert cli("undo", project).code == 0
    assert decided(project) == {}


def test_others_are_listed_and_nothing_is_decided(cli: Cli, project: Path, undecided: list[int]) -> None:
    answer = cli("decide", project, 1, "--link", ENTITY, "--identical", "--tick", 5)
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert lines[:2] == ["“Lidocaine” · Chemical → Lidocaine", "without a suggestion yet (7)"]
    assert lines[2].split()[:3] == ["[x]", "5", "2"]
    assert lines[3].split()[:4] == ["[", "]", "9", "3"]
    assert "Ticked: 1 of 7. Nothing was changed" in lines[-1]
    assert decided(project) == {}


def test_yes_decides_the_ticked_ones_as_one_step(cli: Cli, project: Path, undecided: list[int]) -> None:
    answer = cli("decide", project, 1, "--link", ENTITY, "--identical", "--tick", 5, "--tick", 9, "--yes", "--json")
    assert [one["mentions"] for one in answer.json["changes"]] == [[1], [5, 9]]
    assert set(decided(project)) == {1, 5, 9}
    cli("undo", project)
    assert set(decided(project)) == {1}
    again = cli("decide", project, 1, "--identical", "--tick", 13, "--yes", "--json").json
    assert [one["mentions"] for one in again["changes"]] == [[13]], "it keeps the decision that it has"
    groups = cli("decide", project, 1, "--identical", "--json").json["groups"]
    assert [(one["kind"], len(one["lines"])) for one in groups] == [("unsuggested", 6), ("decided_alike", 1)]


def test_the_scope_is_kept_and_strangers_are_refused(cli: Cli, project: Path, undecided: list[int]) -> None:
    alone = cli("decide", project, 1, "--link", ENTITY, "--identical", "--scope", "document", "--yes")
    assert "Linked “Lidocaine” to Lidocaine. “Lidocaine” does not occur anywhere else." in alone.out
    assert set(decided(project)) == {1}
    answer = cli("decide", project, 1, "--identical", "--tick", 2)
    assert (answer.code, "not in the list" in answer.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((1,), "exactly one"),
        ((1, 2, "--identical"), "one MENTION"),
        ((1, "--clear", "--nil", "not-in-kb"), "exactly one"),
        ((1, "--link", ENTITY, "--yes"), "require --identical"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Cli, project: Path, arguments: tuple[object, ...], said: str) -> None:
    answer = cli("decide", project, *arguments)
    assert (answer.code, said in answer.err) == (2, True)


def test_without_a_decision_there_is_nothing_to_spread(cli: Cli, project: Path, undecided: list[int]) -> None:
    assert "not decided yet" in cli("decide", project, 1, "--identical").err


def test_nothing_is_said_before_it_is_on_the_disk(
    cli: Cli, project: Path, undecided: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    say = click.echo

    def fails(path: Path) -> None:
        raise OSError(5, "Input/output error")

    def ordered(words: str, **options: bool) -> None:
        synced.append("said")
        say(words, **options)

    monkeypatch.setattr("curator.storage.db.syncing.sync_file", lambda path: synced.append("synced"))
    monkeypatch.setattr("curator.cli.console.click.echo", ordered)
    cli("decide", project, 1, "--link", ENTITY, "--identical", "--tick", 5, "--yes")
    assert synced.index("said") > 0
    with monkeypatch.context() as broken:
        broken.setattr("curator.storage.db.syncing.sync_file", fails)
        answer = cli("decide", project, 1, "--nil", "not-in-kb", "--identical", "--tick", 9, "--yes")
    assert answer.code == 2
    assert answer.out == ""
    assert "Input/output error" in answer.err


def test_steps_are_listed_and_gone_back_to(cli: Cli, project: Path, undecided: list[int]) -> None:
    """The first step is the one of `undecided`."""
    for one in undecided[:3]:
        assert cli("decide", project, one, "--link", ENTITY).code == 0
    answer = cli("steps", project, "--limit", 2)
    assert answer.out.splitlines()[0].endswith("1  Linked “Lidocaine” to Lidocaine")
    assert answer.out.splitlines()[-1] == "Older steps: add --before 3."
    back = cli("undo", project, "--to", 2)
    assert "Undid 2 steps" in back.out
    assert len(decided(project)) == 1
    facts = cli("steps", project, "--json", "--kind", "decisions", "--search", "lidocaine").json["steps"]
    assert [(one["number"], one["state"], one["mentions"]) for one in facts] == [
        (4, "redoable", 1),
        (3, "redoable", 1),
        (2, "done", 1),
        (1, "done", 8),
    ]
    assert "is undone. Use `curator redo P --to 3`" in cli("undo", project, "--to", 3).err
    assert "Redid 1 step" in cli("redo", project, "--to", 3).out
    assert set(decided(project)) == set(undecided[:2])
    assert "no step 77" in cli("undo", project, "--to", 77).err
