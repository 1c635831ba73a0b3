"""The journal of this computer: what was kept is there after the end of the program, and nobody else sends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.storage.team.journal import FILE, FOLDER, Journal
from tests.failing_reads import fail_reads


def step(key: str, at: str = "2026-01-01T00:00:00") -> dict[str, str]:
    return {"key": key, "at": at, "text": "ü\n"}


def keys(journal: Journal) -> list[str]:
    return [one["key"] for one in journal.pending]


def left(folder: Path) -> list[str]:
    """The keys that a next start finds."""
    journal = Journal(folder, "ada")
    found = keys(journal)
    journal.close()
    return found


def test_what_was_kept_is_there_at_the_next_start(tmp_path: Path) -> None:
    first = Journal(tmp_path, "ada")
    for key in "abc":
        first.put(step(key))
    first.sent("b")
    first.close()
    second = Journal(tmp_path, "ada")
    assert keys(second) == ["a", "c"]
    assert second.pending[0] == step("a")
    for key in "ac":
        second.sent(key)
    second.close()
    assert list(tmp_path.rglob("*.jsonl")) == []
    assert left(tmp_path) == []


def test_another_login_sends_nothing_of_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "ada")
    journal.put(step("a"))
    journal.close()
    assert keys(Journal(tmp_path, "bob")) == []
    assert left(tmp_path) == ["a"]


def test_a_renamed_login_sends_what_its_person_left(tmp_path: Path) -> None:
    for login, person in (("ada", "ada"), ("bob", "bob")):
        journal = Journal(tmp_path, login, person)
        journal.put({**step(person), "curator": person})
        journal.close()
    renamed = Journal(tmp_path, "ada.new", "ada")
    assert keys(renamed) == ["ada"]
    renamed.close()


def test_each_process_has_its_own_and_takes_over_what_is_left(tmp_path: Path) -> None:
    first, second = Journal(tmp_path, "ada"), Journal(tmp_path, "ada")
    second.put(step("late", "2026-01-02"))
    first.put(step("early"))
    assert left(tmp_path) == []  # both are held
    first.close()
    second.close()
    assert left(tmp_path) == ["early", "late"]


def test_a_line_that_was_cut_off_or_is_damaged_costs_no_other(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "ada")
    journal.put(step("a"))
    journal.close()
    [path] = (tmp_path / FOLDER).rglob(FILE)
    path.write_bytes(path.read_bytes() + b'[1]\n{"key": "b", "at"')
    again = Journal(tmp_path, "ada")
    again.put(step("c"))
    again.close()
    assert left(tmp_path) == ["a", "c"]


def test_a_refused_step_stays_in_the_file(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "ada")
    journal.put(step("a"))
    journal.sent("a", "the mention was deleted")
    journal.close()
    [path] = (tmp_path / FOLDER).rglob(FILE)
    assert "the mention was deleted" in path.read_text()
    assert left(tmp_path) == []


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "ada")
    (tmp_path / FOLDER).write_text("")
    with pytest.raises(UserError, match="neither here nor on the server"):
        journal.put(step("a"))
    assert len(journal) == 0


def test_a_journal_that_cannot_be_read_is_never_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be deleted after the next step that is sent."""
    journal = Journal(tmp_path, "ada")
    journal.put(step("a"))
    journal.close()
    fail_reads(monkeypatch, FILE)
    with pytest.raises(UserError, match="cannot be read"):
        Journal(tmp_path, "ada")
    again = Journal(tmp_path, "ada")  # nobody holds it
    assert keys(again) == ["a"]
    again.close()


def test_a_journal_of_another_login_that_cannot_be_read_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path, "ada", "ada")
    journal.put({**step("a"), "curator": "ada"})
    journal.close()
    fail_reads(monkeypatch, FILE)
    renamed = Journal(tmp_path, "ada.new", "ada")
    renamed.put(step("b"))
    renamed.sent("b")
    renamed.close()
    assert left(tmp_path) == ["a"]


@pytest.mark.parametrize("refused", [False, True])
def test_only_a_refused_step_keeps_the_file(tmp_path: Path, refused: bool) -> None:
    """Not one whose note says so."""
    journal = Journal(tmp_path, "ada")
    journal.put({**step("a"), "note": "refused", "refused": ""})
    journal.sent("a", "it was deleted" if refused else "")
    journal.close()
    assert bool(list(tmp_path.rglob(FILE))) is refused
