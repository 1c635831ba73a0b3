"""PMIDs as people write them."""

from __future__ import annotations

import pytest

from curator.domain.curies import listed, pmids_in
from curator.domain.wording import UserError


def test_lists_in_every_manner() -> None:
    text = "\ufeff# mine\nPMID: 12, 0034;12\r\nPMIDs 5 | pmid:7\n\n\t99999999 "
    assert pmids_in(text) == ("12", "34", "5", "7", "99999999")
    assert pmids_in("") == ()


@pytest.mark.parametrize("word", ["PMC123", "0", "-1", "12a", "1234567890", "10.1000/x", "１２"])
def test_what_is_no_pmid_is_named_with_its_line(word: str) -> None:
    with pytest.raises(UserError, match="line 2"):
        pmids_in(f"12\n{word}")


def test_many_are_cut() -> None:
    assert listed(["1", "2", "3"], 3) == "1, 2, 3"
    assert listed(["1", "2", "3"], 1) == "1 and 2 more"
