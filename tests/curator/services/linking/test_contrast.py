"""Contrasts: one question at a time, only answers about the text and the bundle of now."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.domain.documents import Span
from curator.domain.jobs import LinkerState
from curator.domain.suggestions import Contrast
from curator.services.linking.contrast import CHANGED, NOT_SERVING, ContrastService
from tests.curator.services.fakes import World, finish, make_world

PAIR = ("MESH:D006323", "MESH:D001145")


@pytest.fixture
def world(tmp_path: Path):
    world = make_world(tmp_path, start=True)
    world.kb()
    world.documents()
    world.index()
    yield world
    world.project.close()


@pytest.fixture
def asked(world: World) -> list[Contrast | str]:
    return []


def ask(world: World, asked: list[Contrast | str], *, service: ContrastService | None = None) -> ContrastService:
    service = service or world.project.contrasts
    service.ask(world.project.queue.open(1), world.mentions(1)[1], PAIR, then=asked.append)
    return service


def test_the_answer_is_stamped_and_kept(world: World, asked: list[Contrast | str]) -> None:
    ask(world, asked)
    ask(world, asked)
    one, other = asked
    assert isinstance(one, Contrast)
    assert one is other
    assert len(world.linker.contrasts) == 1
    assert (one.mention_id, one.first, one.second) == (world.mentions(1)[1], *PAIR)
    assert one.words[0].span == Span(0, 9)


def test_another_question_takes_the_one_before_back(world: World, asked: list[Contrast | str]) -> None:
    world.linker.manual = True
    ask(world, asked)
    ask(world, asked)
    first, second = world.linker.contrasts
    assert world.linker.cancelled[-1] == 1001
    first()
    assert asked == []
    second()
    assert len(asked) == 1
    world.project.contrasts.cancel()
    second()
    assert len(asked) == 1, "the curator has gone on"


def test_an_answer_of_another_bundle_is_dropped_and_said(world: World, asked: list[Contrast | str]) -> None:
    serving = world.linker.status.bundle_id
    world.linker.set_status(LinkerState.READY, "other")
    ask(world, asked)
    assert asked == [NOT_SERVING]
    world.linker.set_status(LinkerState.READY, serving)
    real = world.linker.contrast

    def late(document, **more):
        world.linker.status = type(world.linker.status)(LinkerState.READY, "", bundle_id="swapped")
        return real(document, **more)

    world.linker.contrast = late  # type: ignore[method-assign]
    ask(world, asked)
    assert asked[1:] == [CHANGED]


def test_a_changed_text_is_asked_about_anew(world: World, asked: list[Contrast | str]) -> None:
    ask(world, asked)
    world.project.curation.add_mention(1, (Span(10, 13),), "Chemical")
    ask(world, asked)
    assert len(world.linker.contrasts) == 2


def test_only_mentions_around_it_are_sent(world: World, asked: list[Contrast | str]) -> None:
    places = (4, 14, 5_000)
    text = "x" * 6_000
    for at in places:
        text = f"{text[:at]}asthma{text[at + 6 :]}"
    lines = [f"9|t|Far\n9|a|{text[4:]}"] + [f"9\t{at}\t{at + 6}\tasthma\tDisease" for at in places]
    finish(world.project.importing.documents([world.write("\n".join(lines) + "\n\n", name="far.pubtator")]))
    opened = world.project.queue.open(2)
    ids = [view.mention.id for view in opened.mentions]
    sent, contrast = [], world.linker.contrast

    def sending(document, **more):
        sent.append([one.id for one in document.mentions])
        return contrast(document, **more)

    world.linker.contrast = sending  # type: ignore[method-assign]
    for number in (ids[0], ids[2], 777):
        world.project.contrasts.ask(opened, number, PAIR, then=asked.append)
    assert sent == [ids[:2], ids[2:], []]
