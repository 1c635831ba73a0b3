"""work, decide and undo: what is undecided, decisions of several mentions or from a file, and when they are said."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from curator.bootstrap import open_project
from tests.curator.cli.conftest import Cli

ENTITY = "MESH:D008012"
IDS = range(1, 33, 4)
"""The mentions “Lidocaine” of all eight documents."""


@pytest.fixture
def undecided(cli: Cli, project: Path) -> list[int]:
    assert cli("decide", project, *IDS, "--clear").code == 0
    return list(IDS)


def decided(project: Path) -> dict[int, tuple[str, ...]]:
    found = open_project(project, linker=False, read_only=True)
    verdicts = {one: made.verdict.entity_ids for one, made in found.curation.current(list(range(1, 33))).items()}
    found.close()
    return verdicts


def test_work_lists_what_is_undecided(cli: Cli, project: Path) -> None:
    assert cli("work", project).out == "No undecided mentions.\n"
    assert cli("decide", project, 1, 6, "--clear").code == 0
    rows = cli("work", project, "--order", "uncertain", "--json").json["mentions"]
    assert [(row["mention_id"], row["external_id"]) for row in rows] == [(1, "1"), (6, "2")]
    chemical = cli("work", project, "--where", "type=Chemical")
    assert chemical.out.split() == ["1", "–", "Lidocaine", "·", "Chemical", "·", "1"]
    for option, value, said in (
        ("--filter", "mine", "Filter “mine” was not found"),
        ("--where", "probability=a..b", "is not a range"),
        ("--where", "colour=red", "FACET=VALUE"),
    ):
        wrong = cli("work", project, option, value)
        assert (wrong.code, said in wrong.err) == (2, True)


def test_several_are_one_step(cli: Cli, project: Path, undecided: list[int]) -> None:
    before = decided(project)
    answer = cli("decide", project, *undecided[:3], "--link", ENTITY)
    assert "Linked 3 mentions of “Lidocaine” to Lidocaine" in answer.out
    assert len(decided(project)) == len(before) + 3
    assert cli("undo", project).code == 0
    assert decided(project) == before


def test_a_file_of_decisions_is_one_step(cli: Cli, project: Path, undecided: list[int], tmp_path: Path) -> None:
    before, file = decided(project), tmp_path / "decisions.jsonl"
    lines: list[dict[str, object]] = [
        {"mention": 1, "link": ["MESH:D006323", ENTITY], "why": "a field that is not read"},
        {"mention": 5, "link": ENTITY},
        {"mention": 9, "nil": "not-in-kb"},
        {"mention": 13, "skip": "unsure", "link": []},
        {"mention": 2, "clear": True},
    ]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    answer = cli("decide", project, "--file", file, "--curator", "ada", "--json").json
    assert (answer["text"], answer["actor"], answer["mentions"]) == ("Decided 5 mentions", "ada", [1, 5, 9, 13, 2])
    found = decided(project)
    assert (found[1], found[5], found[9], found[13]) == (("MESH:D006323", ENTITY), (ENTITY,), (), ())
    assert 2 not in found
    assert cli("undo", project, "--curator", "ada").code == 0
    assert decided(project) == before


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2 is not a decision"),
        ("[]", "line 2 is not a decision"),
        ("[" * 100_000, "line 2 is not a decision"),
        ('{"mention": "x", "clear": true}', "line 2 is not a decision"),
        ('{"mention": true, "clear": true}', "line 2 is not a decision"),
        ('{"mention": 6}', "line 2 is not a decision"),
        ('{"mention": 6, "nil": "no-idea"}', "line 2 is not a decision"),
        ('{"mention": 6, "link": 7}', "line 2 is not a decision"),
        ('{"mention": 6, "nil": "not-in-kb", "link": ["X"]}', "line 2 is not a decision"),
        ('{"mention": 5, "clear": true}', "line 2 is not a decision, or its mention has one already"),
        ('{"mention": 6, "link": ["X:1"]}', "line 2: Entity X:1 was not found"),
        ('{"mention": 999, "clear": true}', "no mention 999"),
        ('{"mention": 99999999999999999999, "clear": true}', "no mention 99999999999999999999"),
    ],
)
def test_a_wrong_line_of_a_file_decides_nothing(cli: Cli, project: Path, tmp_path: Path, line: str, said: str) -> None:
    before, file = decided(project), tmp_path / "decisions.jsonl"
    file.write_text(f'{{"mention": 5, "clear": true}}\n{line}\n', encoding="utf-8")
    answer = cli("decide", project, "--file", file)
    assert (answer.code, answer.out, said in answer.err) == (2, "", True), answer.err
    assert decided(project) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((1,), "exactly one"),
        ((1, "--clear", "--nil", "not-in-kb"), "exactly one"),
        (("--clear",), "Give the numbers of mentions, or --file"),
        ((1, "--file", "x"), "Give nothing else"),
        (("--file", "gone"), "gone"),
        ((1, "--nil", "no-idea"), "too-general"),
        ((1, "--link", "MESH:D999"), "Entity MESH:D999 was not found"),
        ((999, "--nil", "not-in-kb"), "no mention 999"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Cli, project: Path, arguments: tuple[object, ...], said: str) -> None:
    answer = cli("decide", project, *arguments)
    assert (answer.code, answer.out, said in answer.err) == (2, "", True), answer.err


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
    cli("decide", project, 1, "--link", ENTITY)
    assert synced.index("said") > 0
    with monkeypatch.context() as broken:
        broken.setattr("curator.storage.db.syncing.sync_file", fails)
        answer = cli("decide", project, 1, "--nil", "not-in-kb")
    assert (answer.code, answer.out) == (2, "")
    assert "Input/output error" in answer.err
