"""Bulk acceptance on the command line: the sample goes out, comes back marked, and bounds what is taken."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.curator.cli.conftest import Cli
from tests.curator.services.bulk_samples import SURE, UNSURE, long_world
from tests.curator.services.fakes import make_world

ALL = SURE + UNSURE


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with many sure suggestions, closed."""
    world = make_world(tmp_path_factory.mktemp("sure"))
    long_world(world)
    world.project.close()
    return world.project.folder


@pytest.fixture
def sure(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / made.name)


@pytest.fixture
def sample(cli: Cli, sure: Path, tmp_path: Path) -> Path:
    path = tmp_path / "sample.jsonl"
    answer = cli("accept", sure, "--error", 20, "--seed", 1, "--sample-out", path)
    assert answer.code == 0, answer.err
    assert f"{ALL} of {ALL} undecided mentions have suggestions that are certain enough" in answer.out
    return path


def marked(path: Path, *, wrong: int = 0, left: int = 0) -> int:
    """Mark the sample: the first `wrong` ones so, the last `left` ones not at all; returns how many there are."""
    *lines, plan = path.read_text(encoding="utf-8").splitlines()
    found: list[dict[str, Any]] = [json.loads(line) for line in lines]
    for at, one in enumerate(found[: len(found) - left]):
        one["right"] = at >= wrong
    path.write_text("\n".join([*map(json.dumps, found), plan]), encoding="utf-8")
    return len(found)


def links(cli: Cli, project: Path) -> int:
    return int(cli("info", project, "--json").json["decisions"].get("link", 0))


def test_a_line_shows_what_is_asked(sample: Path) -> None:
    first = json.loads(sample.read_text(encoding="utf-8").splitlines()[0])
    assert first["right"] is None
    assert (first["text"], first["suggested"], first["entity"]) == ("Lidocaine", "Lidocaine", "MESH:D008012")


def test_nothing_is_accepted_before_all_are_marked(cli: Cli, sure: Path, sample: Path) -> None:
    marked(sample, left=2)
    answer = cli("accept", sure, "--checked", sample, "--yes", "--json")
    assert (answer.json["standing"], answer.json["left"], answer.json["accepted"]) == ("checking", 2, 0)
    assert links(cli, sure) == 0


def test_what_the_sample_allows_is_shown_and_then_accepted_as_one_step(cli: Cli, sure: Path, sample: Path) -> None:
    checks = marked(sample)
    told = cli("accept", sure, "--checked", sample)
    assert f"of the {ALL - checks} others are wrong, with 95 % confidence" in told.out
    assert links(cli, sure) == 0
    answer = cli("accept", sure, "--checked", sample, "--yes", "--json").json
    assert (answer["accepted"], answer["limit"] <= 0.2) == (ALL - checks, True)
    assert links(cli, sure) == ALL
    cli("undo", sure)
    assert links(cli, sure) == checks


def test_a_decision_made_in_the_meantime_stays(cli: Cli, sure: Path, sample: Path) -> None:
    marked(sample)
    first = json.loads(sample.read_text(encoding="utf-8").splitlines()[0])["mention"]
    cli("decide", sure, first, "--nil", "not-in-kb")
    answer = cli("accept", sure, "--checked", sample, "--yes")
    assert answer.code == 0
    assert links(cli, sure) == ALL - 1


def test_the_limit_is_that_of_the_accepted(cli: Cli, sure: Path, sample: Path) -> None:
    """All the wrong ones may be among those that did not change in the meantime."""
    checks = marked(sample, wrong=1)
    *_, plan = sample.read_text(encoding="utf-8").splitlines()
    ids = {chance[0] for chance in json.loads(plan)["plan"]["chances"]}
    sampled = {json.loads(line)["mention"] for line in sample.read_text(encoding="utf-8").splitlines()[:-1]}
    before = cli("accept", sure, "--checked", sample, "--json").json["limit"]
    for mention in sorted(ids - sampled)[:3]:
        cli("decide", sure, mention, "--nil", "not-in-kb")
    answer = cli("accept", sure, "--checked", sample, "--yes", "--json").json
    rest = ALL - checks
    assert (answer["accepted"], answer["left_out"]) == (rest - 3, 3)
    assert answer["limit"] == pytest.approx(before * rest / (rest - 3))


def test_too_many_wrong_accept_nothing_unseen(cli: Cli, sure: Path, sample: Path, tmp_path: Path) -> None:
    checks = marked(sample, wrong=12)
    more = tmp_path / "more.jsonl"
    answer = cli("accept", sure, "--checked", sample, "--yes", "--sample-out", more, "--json").json
    assert answer["accepted"] == 0
    if answer["standing"] == "failed":
        assert links(cli, sure) == checks - 12
    else:
        assert len(more.read_text(encoding="utf-8").splitlines()) > checks, "the smaller set's sample, too"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text.replace('"right": null', '"right": "yes"', 1), "true, false or null"),
        (lambda text: text.rsplit("\n", 2)[0], "plan is missing"),
        (lambda text: "{" + text, "Line 1 is not JSON"),
        (lambda text: text.replace('"text": "Lidocaine"', '"text": "Aspirin"', 1), "Draw a new sample"),
        (lambda text: text.replace('"mention": ', '"mention": 9', 1), "is not in the sample that was drawn"),
    ],
)
def test_a_spoilt_sample_is_refused(cli: Cli, sure: Path, sample: Path, spoil: Any, said: str) -> None:
    sample.write_text(spoil(sample.read_text(encoding="utf-8")), encoding="utf-8")
    answer = cli("accept", sure, "--checked", sample, "--yes")
    assert answer.code == 2
    assert said in answer.err
    assert links(cli, sure) == 0


def test_options_that_do_not_go_together_are_refused(cli: Cli, sure: Path, sample: Path) -> None:
    assert "either --error" in cli("accept", sure).err
    assert "--yes requires --checked" in cli("accept", sure, "--error", 1, "--yes").err
    assert (
        "leave out --where, --filter and --seed"
        in cli("accept", sure, "--checked", sample, "--where", "type=Chemical").err
    )
    assert "At an error of 0.01 %, none of the" in cli("accept", sure, "--error", 0.01).out
