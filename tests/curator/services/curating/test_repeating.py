"""A decision about a string, done again in the open document, the filtered queue, what came since, and everywhere."""

from __future__ import annotations

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import Split
from curator.domain.wording import UserError
from curator.services.curating.propagation import Others, PropagationScope
from curator.services.ports.queue import QueueFilter
from tests.curator.services.fakes import World

LIDOCAINE = Verdict.link("MESH:D008012")


@pytest.fixture
def stepped(filled: World) -> World:
    """Step 1 links “Lidocaine” of the first of two documents; a third came after it. The mentions are 1, 5 and 9."""
    filled.project.curation.decide(1, LIDOCAINE)
    filled.documents(1, first=3, name="b.pubtator", split=Split.TEST)
    return filled


def listed(world: World, scope: PropagationScope, number: int = 1, **options: object) -> Others:
    return world.project.repeating.others(number, scope=scope, **options)  # type: ignore[arg-type]


def ids(found: Others) -> list[int]:
    return [line.context.mention_id for line in found.lines]


def test_each_choice_of_documents_lists_the_string_there(stepped: World) -> None:
    assert ids(listed(stepped, PropagationScope.PROJECT)) == [5, 9]
    assert ids(listed(stepped, PropagationScope.SINCE)) == [9]
    assert ids(listed(stepped, PropagationScope.DOCUMENT, document_id=2)) == [5]
    assert ids(listed(stepped, PropagationScope.DOCUMENT, document_id=1)) == []
    assert ids(listed(stepped, PropagationScope.QUEUE, where=QueueFilter(split=Split.TEST))) == [9]
    with pytest.raises(UserError, match="No document is open"):
        listed(stepped, PropagationScope.DOCUMENT)


def test_what_is_ticked_gets_the_verdict_of_the_step(stepped: World) -> None:
    found = listed(stepped, PropagationScope.PROJECT)
    assert found.verdict == LIDOCAINE
    change = stepped.project.propagation.decide(found, [5, 9])
    assert change.text == "Linked 2 mentions of “Lidocaine” to Lidocaine"
    assert stepped.project.curation.current([9])[9].verdict == LIDOCAINE


def test_what_is_no_decision_about_one_string_is_refused(stepped: World) -> None:
    stepped.project.curation.decide_many([2, 3], Verdict.nil())
    stepped.project.curation.clear(1)
    stepped.project.notes.flag_mention(1)
    for number in (2, 3, 4):
        with pytest.raises(UserError, match=rf"Step {number} .* is not one step about one string"):
            listed(stepped, PropagationScope.PROJECT, number)
    stepped.project.curation.delete_mention(1)
    with pytest.raises(UserError, match="No mention of step 1"):
        listed(stepped, PropagationScope.PROJECT)
