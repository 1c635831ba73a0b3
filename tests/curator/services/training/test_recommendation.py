"""Retraining recommends a recipe for the context where the names of entities often do not decide."""

from __future__ import annotations

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import Split
from curator.services.training import training_preview
from curator.services.training.recipes import CONTEXT, FIRST
from curator.services.training.training_preview import context_words, hard_links
from tests.curator.services.fakes import World, finish

KB = (
    {"id": "X:1", "name": "Luke (hero)", "synonyms": ["Old Luke"], "types": ["T"]},
    {"id": "X:2", "name": "Heart failure", "types": ["T"]},
)
LINKS = (
    ("luke (HERO)", ("X:1",)),  # same name
    ("Luke", ("X:1",)),  # name without brackets
    ("old luke", ("X:1",)),  # another name
    ("hero", ("X:1",)),  # part of a name
    ("the boy", ("X:1",)),  # other words
    ("the boy", ("X:1",)),
    ("failure", ("X:1", "X:2")),  # part of a name of the second
    ("Heart failure", ("X:1", "X:2")),  # the easiest of two counts
)


@pytest.fixture
def decided(world: World) -> World:
    """Each of the links in a document of its own, all in train."""
    world.kb(KB)
    text = "".join(
        f"{number}|t|{words}\n{number}|a|\n{number}\t0\t{len(words)}\t{words}\tT\t{'|'.join(ids)}\n\n"
        for number, (words, ids) in enumerate(LINKS, 1)
    )
    finish(world.project.importing.documents([world.write(text)], gold=True))
    return world


def counted(world: World) -> tuple[int, int]:
    with world.store.read() as unit:
        return hard_links(unit)


def test_links_are_counted_by_the_words_of_their_mentions(decided: World) -> None:
    assert counted(decided) == (4, 8)
    decided.project.curation.decide(decided.mentions(5)[0], Verdict.nil())
    assert counted(decided) == (3, 7), "the current decisions"
    with decided.store.write() as unit:
        unit.documents.set_split([4], Split.VALIDATION)
        unit.documents.set_split([6], Split.TEST)
    assert counted(decided) == (2, 6), "never those of test documents"


@pytest.mark.parametrize(
    ("hard", "links", "share"),
    [(0, 0, ""), (19, 19, ""), (2, 20, ""), (3, 20, "15.0 %"), (100, 1000, ""), (101, 1000, "10.1 %")],
)
def test_from_a_tenth_on_the_context_is_recommended(hard: int, links: int, share: str) -> None:
    words = context_words(hard, links)
    assert bool(words) is bool(share)
    assert not share or f"In {share} of the links in train and validation documents ({hard} of {links:,})" in words


@pytest.mark.parametrize("recipe", [FIRST, CONTEXT, "conventions"])
def test_the_preview_of_every_recipe_says_why(decided: World, monkeypatch: pytest.MonkeyPatch, recipe: str) -> None:
    monkeypatch.setattr(training_preview, "LEAST_DECISIONS", 8)
    assert "50.0 %" in decided.project.retraining.preview(recipe).context
