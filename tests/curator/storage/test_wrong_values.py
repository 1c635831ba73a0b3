from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from enum import StrEnum
from pathlib import Path

import pytest
from sqlalchemy import String
from sqlalchemy.exc import OperationalError

from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import Span
from curator.domain.wording import DamagedProjectError, UserError
from curator.services.queue import ordering
from curator.storage import wrong_values
from curator.storage.curation.mentions import SqlMentions
from curator.storage.db.columns import enum_of, json_of, object_of, span_of, texts_of, time_of
from curator.storage.db.schema import Base
from curator.storage.project import open_project
from curator.storage.wrong_values import WrongValue, find_wrong_values, is_of_reading
from tests.curator.storage.filler import AT
from tests.curator.storage.wrong_rows import make_killed, set_value


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    return make_killed(tmp_path)


def found(folder: Path) -> list[WrongValue]:
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn:
        return [one for one in find_wrong_values(conn) if one is not None]


def test_a_sound_project_has_a_row_in_every_table_and_no_wrong_value(killed: Path) -> None:
    assert found(killed) == []
    with closing(sqlite3.connect(killed / "project.sqlite")) as conn:
        counts = {one: conn.execute(f"SELECT count(*) FROM {one}").fetchone()[0] for one in Base.metadata.tables}
    assert {one for one, number in counts.items() if not number} <= {
        "round_mentions",
        "suggestion_facts",
        "suggestions",
    }


def test_every_column_that_holds_a_number_or_a_text_may_hold_nothing_else(killed: Path) -> None:
    for table in Base.metadata.sorted_tables:
        for column in table.columns:
            if not column.primary_key and not column.foreign_keys and isinstance(column.type, String):
                with closing(sqlite3.connect(killed / "project.sqlite")) as conn:
                    for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                        conn.execute(f"DROP TRIGGER {name}")
                    key = next(iter(table.primary_key.columns)).name
                    first = f"(SELECT min({key}) FROM {table.name})"
                    rows = conn.execute(f"UPDATE {table.name} SET {column.name} = x'41' WHERE {key} = {first}").rowcount
                    said = [one for one in find_wrong_values(conn) if one is not None]
                assert len([one for one in said if (one.table, one.column) == (table.name, column.name)]) == rows


@pytest.mark.parametrize(
    "at",
    [
        "2024-02-29T23:59:59+00:00",
        "2024-05-31T07:08:09.123456+00:00",
        "2024-05-06T07:08:09+02:00",
        "2024-05-06T07:08:09.123+00:00",
        "2024-05-06T07:08:09",
    ],
)
def test_every_time_that_can_be_read_is_sound(killed: Path, at: str) -> None:
    set_value(killed, "decisions", "at", f"'{at}'")
    assert found(killed) == []
    assert time_of(at, "decisions").tzinfo is not None


@pytest.mark.parametrize("at", ["2023-02-29T00:00:00+00:00", "2024-05-06T07:08:09.12345 +00:00", "2024-05-06", "0", ""])
def test_a_time_that_python_and_sqlite_see_differently_is_as_python_sees_it(killed: Path, at: str) -> None:
    set_value(killed, "operations", "at", f"'{at}'")
    with suppress(DamagedProjectError):
        time_of(at, "operations", 1)
        assert found(killed) == []
        return
    assert [(one.column, one.number) for one in found(killed)] == [("at", 1)]


@pytest.mark.parametrize("error", [ValueError("ours"), KeyError("ours"), AssertionError("ours"), TypeError("ours")])
def test_an_error_of_the_program_stays_one(killed: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Also beside a wrong value, for which nothing is searched."""
    set_value(killed, "rounds", "kind", "'evil'")
    monkeypatch.setattr(wrong_values, "find_wrong_values", lambda _: pytest.fail("searched"))

    with open_project(killed) as store:
        for unit in (store.read, store.write):
            with pytest.raises(type(error), match="ours"), unit():
                raise error
            with pytest.raises(AttributeError, match="casefold"), unit():
                ordering._folded({(b"x", "Disease"): 1})  # type: ignore[dict-item]
            with pytest.raises(ValueError, match="a span needs"), unit():
                Span(2, 1)
        assert store.damage(error) is None
    assert not is_of_reading(UserError("said"))
    assert not is_of_reading(OSError("disk"))


@pytest.mark.parametrize(("column", "value"), [("text", "x'ff'"), ("end_pos", "99999999999999999999")])
def test_an_error_of_reading_a_value_names_the_wrong_one(killed: Path, column: str, value: str) -> None:
    set_value(killed, "mentions", column, value)
    with open_project(killed) as store:
        words = rf"of “{column}” in mention 1.*curator check"
        with pytest.raises(DamagedProjectError, match=words), store.read() as unit:
            unit.mentions.of_document(1)
        try:
            with store._reader.connect() as conn:
                SqlMentions(conn).of_document(1)
        except TypeError as error:  # after the unit, such as in a command
            later = error
        assert "mention 1" in str(store.damage(later))


def test_a_wrong_statement_is_no_wrong_value(killed: Path) -> None:
    set_value(killed, "rounds", "kind", "'evil'")
    set_value(killed, "operations", "payload", "'nonsense'")
    with open_project(killed) as store:
        with pytest.raises(OperationalError, match="no such column"), store.read() as unit:
            unit.connection.exec_driver_sql("SELECT missing FROM operations")
        with pytest.raises(DamagedProjectError, match="“nonsense” of “payload”"), store.read() as unit:
            unit.connection.exec_driver_sql("SELECT json_extract(payload, '$.mentions') FROM operations").all()


def test_the_readers_of_values_say_what_and_where() -> None:
    class Kind(StrEnum):
        ONE = "one"

    assert enum_of(Kind, "one", "t", "c") is Kind.ONE
    assert texts_of('["a"]', "t", "c") == ("a",)
    assert span_of(1, 2, "mentions").end == 2
    assert time_of(AT.isoformat(), "t") == AT
    assert Verdict.link("D1").outcome is Outcome.LINK
    for read in (
        lambda: enum_of(Kind, "two", "t", "c", 3),
        lambda: texts_of('{"a": 1}', "t", "c", 3),
        lambda: texts_of("[1]", "t", "c", 3),
        lambda: texts_of("[" * 100_000, "t", "c", 3),
        lambda: span_of(-1, 2, "t", 3),
        lambda: json_of(object_of, "[]", "t", "c", 3),
        lambda: time_of("x", "t", 3),
    ):
        with pytest.raises(DamagedProjectError, match="row 3 of table “t”"):
            read()
