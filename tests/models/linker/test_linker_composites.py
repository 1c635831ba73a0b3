"""A composite mention brings up all of its parts."""

import pytest

from models.linker.linker import Linker
from models.types import DocumentInput, MentionInput


@pytest.mark.parametrize(
    "text", ["breast and ovarian cancer", "ovarian/breast cancers", "cancer of breast and heart failure"]
)
def test_all_parts_of_a_composite_come_first(bundle, text: str) -> None:
    linker = Linker.load(bundle.path, device="cpu")
    (answer,) = linker.link([DocumentInput("d", text, (MentionInput("m", ((0, len(text)),), ("Disease",)),))])
    expected = {"D1", "D3"} if "heart" in text else {"D1", "D2"}
    assert {candidate.entity_id for candidate in answer.mentions[0].candidates[:2]} == expected
