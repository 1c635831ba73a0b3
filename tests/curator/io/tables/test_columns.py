"""The memory of chosen columns: a disk that does not give it once changes neither it nor what a table means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curator.domain.wording import UnreadableError
from curator.io.registry import default_registry
from curator.io.tables.columns import ColumnMemory
from curator.services.ports.files import DocumentOptions
from tests.failing_reads import fail_reads

CHOICE = DocumentOptions({"document": "Nr", "text": "Befund"})


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "columns.json"
    ColumnMemory(path).remember(("Nr", "Befund"), CHOICE)
    return path


def test_a_choice_that_cannot_be_read_is_not_replaced(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = ColumnMemory(kept)
    fail_reads(monkeypatch, kept.name)
    with pytest.raises(UnreadableError):
        memory.remember(("A", "B"), CHOICE)
    memory.remember(("A", "B"), CHOICE)
    assert [one["headings"] for one in json.loads(kept.read_text())] == [["Nr", "Befund"], ["A", "B"]]


def test_a_table_is_not_read_with_other_columns(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text is in the column 'Befund', as chosen, and not in 'Text'."""
    table = tmp_path / "t.csv"
    table.write_text("Nr,Befund,Text\n1,Herzinfarkt,nein\n")
    memory = ColumnMemory(kept)
    memory.remember(("Nr", "Befund", "Text"), CHOICE)
    registry = default_registry(memory)
    failed = fail_reads(monkeypatch, kept.name)
    with pytest.raises(UnreadableError):
        registry.recognise(table)
    assert failed() == 1
    [found] = iter(registry.recognise(table).open(table))
    assert found.text == "Herzinfarkt"
