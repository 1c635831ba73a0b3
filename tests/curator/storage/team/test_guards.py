"""What the database refuses to the login of a curator, a reader and an adjudicator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege, IntegrityConstraintViolation

from curator.domain.decisions import OperationKind, Verdict
from curator.domain.documents import MentionOrigin
from curator.domain.entities import Entity, ProvisionalEntity
from curator.domain.rounds import RoundKind
from curator.services.ports.address import SharedAddress
from curator.services.ports.storage import Role
from curator.storage.db.schema import APPEND_ONLY
from curator.storage.team.people import People
from curator.storage.team.project import create_shared_project
from tests.curator.storage.filler import AT, Filler, document, mention
from tests.postgres import Server

REWRITING = {
    "change a decision": "UPDATE decisions SET outcome = 'nil'",
    "delete decisions": "DELETE FROM decisions",
    "empty the decisions": "TRUNCATE decisions",
    "change a step": "UPDATE operations SET actor = 'ada'",
    "delete steps": "DELETE FROM operations",
    "empty the steps": "TRUNCATE operations CASCADE",
    "change a judgement": "UPDATE judgements SET outcome = 'nil'",
    "change a text": "UPDATE document_texts SET text = ''",
    "move a document": "UPDATE documents SET file_id = 2",
    "change a comment": "UPDATE comments SET text = ''",
    "delete comments": "DELETE FROM comments",
    "delete new entities": "DELETE FROM provisional_entities",
    "delete the knowledge base": "DELETE FROM kb_pieces",
    "forget the project's id": "DELETE FROM meta WHERE key = 'project.id'",
    "put a linker into use": "INSERT INTO meta VALUES ('active_bundle', 'x')",
    "make a blind round": "INSERT INTO rounds VALUES (2, 's', 'blind', '2024-05-06T07:08:09+00:00', false)",
    "put a document into a round": "INSERT INTO round_documents VALUES (1, 2)",
    "close a round": "UPDATE rounds SET closed = true",
    "import a file": "INSERT INTO source_files VALUES (2, '', '', '', '', '', '', '', '', false, false)",
    "become an adjudicator": "UPDATE people SET role = 'adjudicator'",
    "add a person": "INSERT INTO people VALUES ('eve', 'eve', 'adjudicator')",
    "change the version": "UPDATE schema_version SET version = 1",
}
SCHEMA_CHANGES = {
    "disable triggers": "ALTER TABLE decisions DISABLE TRIGGER ALL",
    "run without triggers": "SET session_replication_role = replica",
    "show hidden rows": "ALTER TABLE judgements DISABLE ROW LEVEL SECURITY",
    "drop a policy": "DROP POLICY visible ON judgements",
    "drop a table": "DROP TABLE decisions CASCADE",
    "drop the schema": "DROP SCHEMA curator CASCADE",
    "add a table": "CREATE TABLE curator.mine (id int)",
    "replace a check": "CREATE OR REPLACE FUNCTION curator.own_name() RETURNS text LANGUAGE sql AS $$ SELECT 'bob' $$",
    "put a schema in front": "CREATE SCHEMA mine",
    "become the owner": "SET ROLE owner",
    "become bob": "SET ROLE bob",
    "log in as bob": "SET SESSION AUTHORIZATION bob",
    "run a program": "COPY decisions FROM PROGRAM 'id'",
    "read a file": "COPY mentions FROM '/etc/passwd'",
    "write a file": "COPY mentions TO '/tmp/mentions'",
    "import a large object": "SELECT lo_import('/etc/passwd')",
    "lock everybody out": "LOCK TABLE operations IN ACCESS EXCLUSIVE MODE",
}
LEAK = """
CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001
    AS $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END $$
"""


@pytest.fixture(scope="module")
def project(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedAddress]:
    """Bob decided mention 1, ada mention 2; in the open round “r”, bob judged mention 1 and made mention 5."""
    place = SharedAddress.parse(server.address(server.new_base()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CURATOR_SHARED_DIR", str(tmp_path_factory.mktemp("shared")))
        with create_shared_project(place, name="trial") as store:
            fill = Filler(store)
            fill.file(document(mentions=[mention(0, 2), mention(3, 5), mention(6, 8), mention(9, 11, (12, 14))]))
            for number, who in ((1, "bob"), (2, "ada")):
                with store.write() as unit:
                    step = unit.operations.append(OperationKind.DECIDE, actor=who, at=AT, text="t")
                    unit.decisions.append(
                        [number], [Verdict.nil()], curator=who, at=AT, operation_id=step, shown=[None]
                    )
            with store.write() as unit:
                entity = Entity("NEW:0001", "n", (), ("Disease",), "")
                unit.kb.save_provisional(ProvisionalEntity(entity, "bob", AT))
                unit.comments.add(1, 1, author="bob", at=AT, text="c")
                one = unit.rounds.create("r", RoundKind.BLIND, [1], at=AT)
                unit.rounds.judge(one, [1], [Verdict.nil()], curator="bob", at=AT)
                made = unit.mentions.add(1, [mention(1, 4, (5, 7))], origin=MentionOrigin.CURATOR, deleted=True)
                unit.rounds.add_mention(one, made[0], "bob")
                unit.attributes.append([(1, 1, 1)], curator="bob", at=AT, round_id=one)
            assert store.team.next("bob", seconds=600) is not None
    server.logins("ada", "bob", "rita", "anna")
    for login, role in (("ada", "curator"), ("bob", "curator"), ("rita", "reader"), ("anna", "adjudicator")):
        People(place).grant(login, Role(role))
    yield place
    server.drop(place.base)


@pytest.fixture(scope="module")
def logins(server: Server, project: SharedAddress) -> Iterator[dict[str, psycopg.Connection]]:
    with ExitStack() as stack:
        made = {}
        for one in ("ada", "bob", "rita", "anna", "owner"):
            conn = psycopg.connect(server.address(project.base, user=one), options="-c search_path=curator,pg_temp")
            made[one] = stack.enter_context(closing(conn))
        yield made


def attempt(conn: psycopg.Connection, sql: str) -> None:
    """Run the statements in one transaction, to its end."""
    try:
        conn.execute(sql)
        conn.commit()
    finally:
        conn.rollback()


def seen(conn: psycopg.Connection, query: str) -> object:
    found = conn.execute(query).fetchall()
    conn.rollback()
    return found[0][0]


@pytest.mark.parametrize("what", REWRITING)
def test_nobody_but_the_owner_rewrites_what_is_there(logins, what):
    for login in ("ada", "rita"):
        before = seen(logins[login], "SELECT value FROM meta WHERE key = 'project.id'")
        try:
            attempt(logins[login], REWRITING[what])
        except InsufficientPrivilege:
            continue
        assert what == "forget the project's id"  # of which a curator sees no row to delete
        assert seen(logins[login], "SELECT value FROM meta WHERE key = 'project.id'") == before


@pytest.mark.parametrize("what", SCHEMA_CHANGES)
def test_nobody_but_the_owner_changes_the_schema_or_becomes_somebody_else(logins, what):
    for login in ("ada", "rita", "anna"):
        with pytest.raises(InsufficientPrivilege):
            attempt(logins[login], SCHEMA_CHANGES[what])


def test_an_open_round_is_blind_in_the_database(logins):
    for login, number in (("ada", 0), ("rita", 0), ("bob", 1), ("anna", 1), ("owner", 1)):
        for table in ("judgements", "round_mentions", "mention_attributes"):
            assert seen(logins[login], f"SELECT count(*) FROM {table}") == number, (login, table)
        assert seen(logins[login], "SELECT count(*) FROM mentions") == 4 + number
        assert seen(logins[login], "SELECT count(DISTINCT mention_id) FROM fragments") == 1 + number
    conn, said = logins["ada"], list[str | None]()
    assert conn.execute("UPDATE mentions SET flagged = true").rowcount == 4
    assert conn.execute("DELETE FROM fragments").rowcount == 2
    conn.rollback()
    conn.add_notice_handler(lambda one: said.append(one.message_primary))
    conn.execute(LEAK)
    conn.execute("SELECT * FROM judgements WHERE pg_temp.leak(curator)")
    conn.execute("SELECT * FROM mentions WHERE id = 5 AND pg_temp.leak(text)")
    with conn.cursor().copy("COPY judgements TO STDOUT") as copied:
        assert list(copied) == []
    assert conn.execute("SELECT * FROM pg_stats WHERE tablename = 'judgements'").fetchall() == []
    assert said == []
    with pytest.raises(InsufficientPrivilege, match="row-level security"):
        attempt(conn, "SET row_security = off; SELECT * FROM judgements")


def test_nothing_was_changed(server, project):
    found = server.sql("SELECT outcome, curator FROM curator.decisions ORDER BY id", base=project.base)
    assert found == [("nil", "bob"), ("nil", "ada")]
    assert server.sql("SELECT actor FROM curator.operations ORDER BY id", base=project.base) == [("bob",), ("ada",)]


def test_logs_are_only_appended_to_by_owners_too(logins):
    for table in APPEND_ONLY:
        if seen(logins["owner"], f"SELECT count(*) FROM {table}"):
            with pytest.raises(IntegrityConstraintViolation, match="append-only"):
                attempt(logins["owner"], f"DELETE FROM {table}")
        with pytest.raises(IntegrityConstraintViolation, match="append-only"):
            attempt(logins["owner"], f"TRUNCATE {table} CASCADE")
    with pytest.raises(IntegrityConstraintViolation, match="append-only"):
        attempt(logins["anna"], "DELETE FROM decisions")


def test_a_closed_round_is_seen(logins):
    attempt(logins["owner"], "UPDATE rounds SET closed = true")
    assert seen(logins["ada"], "SELECT curator FROM judgements") == "bob"
    attempt(logins["owner"], "UPDATE rounds SET closed = false")
