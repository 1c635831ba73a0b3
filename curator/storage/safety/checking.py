"""Checks a project's database by comparing all redundant data, without changes."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from curator.domain.documents import text_hash
from curator.domain.jobs import Progress
from curator.domain.wording import DamagedProjectError, MissingStepsError, UserError, ntr, tr
from curator.services.ports.safety import Checked, Finding
from curator.storage.db.columns import place_of, shortened
from curator.storage.db.engine import find_read_source
from curator.storage.db.errors import disk_error, disk_failed, is_unread
from curator.storage.db.hash_chain import Broken, broken_decisions, broken_operations
from curator.storage.db.lock import is_locked
from curator.storage.db.mark import NAME as MARK_NAME
from curator.storage.db.mark import UNMARKED, Mark, Top, check_mark, is_altered, local_time, read_mark, top_of
from curator.storage.foreign import check_schema
from curator.storage.migrations import check_version, current_version
from curator.storage.wrong_values import WrongValue, find_wrong_values

Steps = Generator[Progress, None, None]
AT_ONCE = 50
SHOWN = 3
"""The most lines shown from SQLite's own check."""
MOST = 20
"""The most rows listed for a kind of problem; others are counted."""
RESTORE = "Restore a backup (Project › Backups or `curator restore`)."
STEP = "Step {id} was changed, or a step before it is missing. {advice}"
DECISION = "Decision {id} was changed, or one before it is missing. {advice}"
WRONG = "The value “{value}” of “{column}” in {place} cannot be read. {advice}"
NO_MARK = (
    "{path} is missing or damaged. If the last steps were lost, for example with a write-ahead log, Curator could not "
    "see it. Compare the last steps with a backup. The next opening of the project writes the file again."
)
NO_MARK_THEN = (
    "{path} was missing or damaged when the project was opened on {when}. If the last steps had been lost before, for "
    "example with a write-ahead log, Curator could not see it. Compare the steps before that time with a backup. "
    "`curator restore PROJECT --continue` accepts them as they are."
)
_COUNTED = """SELECT d.id, d.external_id, d.mentions, d.linked, d.nil, d.rejected, d.skipped, count(m.id),
    coalesce(sum(m.outcome = 'link'), 0), coalesce(sum(m.outcome = 'nil'), 0),
    coalesce(sum(m.outcome = 'rejected'), 0), coalesce(sum(m.outcome = 'skipped'), 0)
    FROM documents d LEFT JOIN mentions m ON m.document_id = d.id AND NOT m.deleted
    WHERE d.id > ? GROUP BY d.id ORDER BY d.id LIMIT 500"""
_CURRENT = """SELECT m.id, d.external_id FROM mentions m JOIN documents d ON d.id = m.document_id
    LEFT JOIN decisions x ON x.id = (SELECT max(id) FROM decisions WHERE mention_id = m.id)
    WHERE m.decision_id IS NOT iif(x.outcome = 'cleared', NULL, x.id)
    OR m.outcome IS NOT iif(x.outcome = 'cleared', NULL, x.outcome) LIMIT 1000"""
_QUOTED = """SELECT m.document_id, m.id, m.text, coalesce(f.start_pos, m.start_pos), coalesce(f.end_pos, m.end_pos)
    FROM mentions m LEFT JOIN fragments f ON f.mention_id = m.id
    WHERE NOT m.deleted AND m.document_id > ? AND m.document_id <= ? ORDER BY m.document_id, m.id, f.ordinal"""
_TEXTS = """SELECT d.id, d.external_id, d.text_sha256, t.text FROM documents d
    LEFT JOIN document_texts t ON t.document_id = d.id WHERE d.id > ? ORDER BY d.id LIMIT ?"""


@dataclass(slots=True)
class _Check:
    """Collects the findings."""

    path: Path
    conn: sqlite3.Connection
    mark: Mark | None
    findings: list[Finding] = field(default_factory=list)
    looked_at: dict[str, int] = field(default_factory=dict)

    def add(self, where: str, text: str) -> None:
        self.findings.append(Finding(where, text))


def check_steps(folder: Path) -> Generator[Progress, None, Checked]:
    """The check of the project in `folder`, whoever has it open, in steps of some milliseconds, except indivisible
    steps of SQLite.

    Raises NewerProjectError, and UserError for an older version or if `folder` is not a project.
    """
    database = folder / "project.sqlite"
    if not database.is_file():
        return Checked(folder, (Finding(str(database), _unreadable(database, FileNotFoundError())),), {})
    mark = read_mark(folder)
    yield Progress("check", 0, 0, tr("File"))
    try:
        source = find_read_source(database)
    except DamagedProjectError as error:
        return Checked(folder, (Finding(str(database), f"{error} {tr(RESTORE)}"),), {})
    except (sqlite3.Error, UserError, OSError) as error:
        return Checked(folder, (Finding(str(database), _unreadable(database, error)),), {})
    check, problem = None, ""
    try:
        with closing(sqlite3.connect(source.uri, uri=True, isolation_level=None)) as conn:
            check = _Check(database, conn, mark)
            _check_version(check)
            yield from _whole(check)
    except DamagedProjectError as error:
        problem = f"{error} {tr(RESTORE)}"
    except (sqlite3.Error, UnicodeError, TypeError, ValueError) as error:
        problem = str(disk_error(error, database) or _unreadable(database, error))
    finally:
        if source.copy is not None:
            source.copy.cleanup()
    last = (Finding(str(database), problem),) if problem else ()
    return Checked(folder, (*check.findings, *last), check.looked_at) if check else Checked(folder, last, {})


def _check_version(check: _Check) -> None:
    if check.conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        raise DamagedProjectError(tr("{path} is empty.", path=check.path))
    if check_version(check.conn, check.path) < current_version():
        old = "{database} was written by an older version. Open it once for writing to upgrade it."
        raise UserError(tr(old, database=check.path))
    check_schema(check.conn, check.path)


def _whole(check: _Check) -> Steps:
    parts = {
        tr("Pages and indexes"): _integrity,
        tr("References"): _references,
        tr("Steps and decisions"): _chain,
        tr("Values"): _values,
        tr("Texts"): _texts,
        tr("Counters"): _counters,
        tr("Current decisions"): _current,
        tr("Knowledge base"): _knowledge,
    }
    for number, (name, part) in enumerate(parts.items()):
        yield Progress("check", number, len(parts), name)
        try:
            yield from part(check)
        except (sqlite3.Error, UnicodeError, TypeError, ValueError) as error:
            check.add(name, _unreadable(check.path, error))


def _unreadable(path: Path, error: Exception) -> str:
    if not path.exists():
        return tr("{path} is missing. {advice}", path=path, advice=tr(RESTORE))
    return tr("{path} cannot be read ({error}). {advice}", path=path, error=error, advice=tr(RESTORE))


def _integrity(check: _Check) -> Steps:
    """Check every page, and every index against its table."""
    rows = check.conn.execute("PRAGMA integrity_check").fetchall()
    lines = [line for (found,) in rows for line in found.splitlines() if line != "ok" and not line.startswith("***")]
    for line in lines[:SHOWN]:
        damaged = tr("The file is damaged: {found}. {advice}", found=line, advice=tr(RESTORE))
        check.add(str(check.path), str(disk_failed(check.path, line)) if is_unread(line) else damaged)
    if len(lines) > SHOWN:
        check.add(str(check.path), ntr("… and {n} more.", "… and {n:,} more.", len(lines) - SHOWN))
    check.looked_at["pages"] = check.conn.execute("PRAGMA page_count").fetchone()[0]
    yield Progress("check", 0, 0)


def _references(check: _Check) -> Steps:
    missing: dict[tuple[str, str], list[object]] = {}
    for table, row, parent, _ in check.conn.execute("PRAGMA foreign_key_check"):
        missing.setdefault((table, parent), []).append(row)
    for (table, parent), rows in missing.items():
        text = ntr(
            "{n} row of “{table}” (number {rows}) refers to a row of “{parent}” that is missing. {advice}",
            "{n:,} rows of “{table}” (numbers {rows}) refer to rows of “{parent}” that are missing. {advice}",
            len(rows),
            table=table,
            parent=parent,
            rows=_some(rows),
            advice=tr(RESTORE),
        )
        check.add(table, text)
    yield Progress("check", 0, 0)


def _chain(check: _Check) -> Steps:
    folder = check.path.parent
    if check.mark is None and read_mark(folder) is None and top_of(check.conn) != Top():
        check.add(MARK_NAME, tr(NO_MARK, path=folder / MARK_NAME))
    if check.mark is not None and check.mark.unclean.startswith(UNMARKED):
        when = local_time(check.mark.unclean.removeprefix(UNMARKED))
        check.add(MARK_NAME, tr(NO_MARK_THEN, path=folder / MARK_NAME, when=when))
    if check.mark is not None:
        try:
            altered = not is_locked(folder) and is_altered(check.path, check.mark)
            check_mark(check.conn, check.path, check.mark, altered=altered)
        except MissingStepsError as error:
            check.add(str(check.path), f"{error} {tr(RESTORE)}")
    for found, where, words in (
        (broken_operations(check.conn), "operations", STEP),
        (broken_decisions(check.conn), "decisions", DECISION),
    ):
        broken: list[Broken] = []
        for one in found:
            if one is None:
                yield Progress("check", 0, 0)
            else:
                broken.append(one)
        for one in broken[:MOST]:
            check.add(f"{where} {one.id}", _broken(words, one))
        _count_others(check, where, len(broken))
    for table in ("operations", "decisions"):
        check.looked_at[table] = check.conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608


def _broken(words: str, one: Broken) -> str:
    return tr(STEP if words is STEP else DECISION, id=one.id, advice=tr(RESTORE))


def _values(check: _Check) -> Steps:
    """Check every value that has a form: states, outcomes, times, places in texts, lists in JSON."""
    found: list[WrongValue] = []
    for one in find_wrong_values(check.conn):
        if one is None:
            yield Progress("check", 0, 0)
        else:
            found.append(one)
    for one in found[:MOST]:
        place = _place(check.conn, one)
        words = tr(WRONG, value=shortened(one.value), column=one.column, place=place, advice=tr(RESTORE))
        check.add(place, words)
    _count_others(check, tr("values"), len(found))


def _place(conn: sqlite3.Connection, one: WrongValue) -> str:
    """The row, and its document if it has one."""
    if one.table not in ("documents", "mentions", "decisions"):
        return place_of(one.table, one.number)
    if one.table == "documents":
        row = conn.execute("SELECT external_id FROM documents WHERE id = ?", (one.number,)).fetchone()
        return tr("document {name}", name=shortened(row[0]))
    mention = "?" if one.table == "mentions" else "(SELECT mention_id FROM decisions WHERE id = ?)"
    query = f"SELECT external_id FROM documents WHERE id = (SELECT document_id FROM mentions WHERE id = {mention})"  # noqa: S608
    row = conn.execute(query, (one.number,)).fetchone()
    place = place_of(one.table, one.number)
    return place if row is None else tr("{place} of document {name}", place=place, name=shortened(row[0]))


def _texts(check: _Check) -> Steps:
    """Check every text against its hash from the import, and every mention against the text at its place."""
    last = number = 0
    wrong: list[str] = []
    misquoted: list[str] = []
    while rows := check.conn.execute(_TEXTS, (last, AT_ONCE)).fetchall():
        sound = {row[0]: row for row in rows if isinstance(row[3], str) and text_hash(row[3]) == row[2]}
        wrong += [row[1] for row in rows if row[0] not in sound]
        quoted = check.conn.execute(_QUOTED, (last, rows[-1][0])).fetchall()
        for (document_id, _, said), spans in groupby(quoted, key=itemgetter(0, 1, 2)):
            _, name, _, text = sound.get(document_id, (0, "", "", ""))
            if text and " ".join(text[start:end] for *_, start, end in spans) != said:
                misquoted.append(name)
        last = rows[-1][0]
        number += len(rows)
        yield Progress("check", 0, 0)
    for name in wrong[:MOST]:
        words = tr("The text of document {name} differs from the one imported. {advice}", name=name, advice=tr(RESTORE))
        check.add(tr("document {name}", name=name), words)
    _count_others(check, "documents", len(wrong))
    check.looked_at["documents"] = number
    if misquoted:
        words = ntr(
            "{n} mention differs from the text at its place, in document {names}. {advice}",
            "{n:,} mentions differ from the text at their places, in documents {names}. {advice}",
            len(misquoted),
            names=_some(list(dict.fromkeys(misquoted))),
            advice=tr(RESTORE),
        )
        check.add("mentions", words)


def _counters(check: _Check) -> Steps:
    last, wrong = 0, []
    while rows := check.conn.execute(_COUNTED, (last,)).fetchall():
        wrong += [row[1] for row in rows if row[2:7] != row[7:]]
        last = rows[-1][0]
        yield Progress("check", 0, 0)
    if wrong:
        words = ntr(
            "The counters of {n} document ({names}) differ from its mentions, so lists show wrong ones. {advice}",
            "The counters of {n:,} documents ({names}) differ from their mentions, so lists show wrong ones. {advice}",
            len(wrong),
            names=_some(wrong),
            advice=tr(RESTORE),
        )
        check.add("documents", words)


def _current(check: _Check) -> Steps:
    """Check that the current decision is the last one of each mention."""
    found = check.conn.execute(_CURRENT).fetchall()
    check.looked_at["mentions"] = check.conn.execute("SELECT count(*) FROM mentions").fetchone()[0]
    if found:
        words = ntr(
            "{n} mention shows a decision that is not its last one, in document {names}. {advice}",
            "{n:,} mentions show decisions that are not their last ones, in documents {names}. {advice}",
            len(found),
            names=_some(list(dict.fromkeys(name for _, name in found))),
            advice=tr(RESTORE),
        )
        check.add("mentions", words)
    yield Progress("check", 0, 0)


def _knowledge(check: _Check) -> Steps:
    """Check the entities against their hash from the import."""
    for version, name, known in check.conn.execute(
        "SELECT id, name, content_hash FROM kb_versions WHERE active"
    ).fetchall():
        digest, number = hashlib.sha256(), 0
        for data in _rested(check.conn, f"SELECT data FROM kb{version}_entities ORDER BY entity_id"):  # noqa: S608
            if data is None:
                yield Progress("check", 0, 0)
            else:
                digest.update(data.encode() + b"\n")
                number += 1
        if digest.hexdigest() != known:
            text = tr(
                "The knowledge base “{name}” differs from the one imported. Import it again, or restore a backup.",
                name=name,
            )
            check.add(tr("knowledge base"), text)
        check.looked_at["entities"] = number


def _rested(conn: sqlite3.Connection, query: str) -> Iterator[str | None]:
    """The values of the rows, with None now and then, at which the reader may pause."""
    for number, (value,) in enumerate(conn.execute(query), start=1):
        yield value
        if number % 1000 == 0:
            yield None


def _count_others(check: _Check, where: str, number: int) -> None:
    if number > MOST:
        check.add(where, ntr("… and {n} more.", "… and {n:,} more.", number - MOST))


def _some(names: list[object] | list[str]) -> str:
    return ", ".join(str(one) for one in names[:5]) + ("…" if len(names) > 5 else "")
