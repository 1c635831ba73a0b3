"""Attacks with plain SQL from a curator's, a reader's and an adjudicator's login: what the database refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege, IntegrityConstraintViolation, InvalidParameterValue

from curator.domain.decisions import NilReason, OperationKind, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.documents import MentionOrigin
from curator.domain.entities import Entity, ProvisionalEntity
from curator.domain.rounds import RoundKind
from curator.services.ports.address import SharedAddress
from curator.services.ports.storage import Role
from curator.storage.team.people import People
from curator.storage.team.project import create_shared_project
from tests.curator.storage.filler import AT, Filler, document, mention
from tests.postgres import Server

NOW = "'2024-05-06T07:08:09+00:00'"
OPERATION = "INSERT INTO curator.operations (id, kind, actor, at, text, payload) VALUES "
DECISION = (
    "INSERT INTO curator.decisions (id, mention_id, operation_id, outcome, entity_ids, curator, at, note) VALUES "
)
JUDGEMENT = "INSERT INTO curator.judgements (id, round_id, mention_id, curator, outcome, entity_ids, at, note) VALUES "
STEP = OPERATION + f"(3, 'decide', 'ada', {NOW}, 't', '{{}}')"
UNDOING = OPERATION + f"(3, 'undo', 'ada', {NOW}, 't', '{{}}')"
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
FORGING = {
    "a step of bob": OPERATION + f"(3, 'decide', 'bob', {NOW}, 't', '{{}}')",
    "a step of an import": OPERATION + f"(3, 'decide', 'import:a', {NOW}, 't', '{{}}')",
    "a step that uses up the numbers": OPERATION + f"(2147483647, 'decide', 'ada', {NOW}, 't', '{{}}')",
    "a decision of bob": f"{STEP}; {DECISION} (3, 1, 3, 'cleared', '[]', 'bob', {NOW}, '')",
    "a decision of bob in an undo": f"{UNDOING}; {DECISION} (3, 1, 3, 'link', '[\"X\"]', 'bob', {NOW}, '')",
    "a decision in bob's step": f"{DECISION} (3, 1, 1, 'cleared', '[]', 'ada', {NOW}, '')",
    "a decision in an earlier step": f"{DECISION} (3, 1, 2, 'cleared', '[]', 'ada', {NOW}, '')",
    "a decision without a step": f"{DECISION} (3, 1, NULL, 'cleared', '[]', 'ada', {NOW}, '')",
    "a decision that uses up the numbers": f"{STEP}; {DECISION} (2147483647, 1, 3, 'cleared', '[]', 'ada', {NOW}, '')",
    "an effort of bob": "INSERT INTO curator.efforts VALUES (1, 9, 9)",
    "an edit of bob": "INSERT INTO curator.mention_edits VALUES (1, 1, 1, '[]', 'a', '[]', 'b')",
    "a judgement of bob": JUDGEMENT + f"(2, 1, 2, 'bob', 'cleared', '[]', {NOW}, '')",
    "a comment of bob": f"{STEP}; INSERT INTO curator.comments VALUES (2, 1, 1, 'bob', {NOW}, 't', false)",
    "a relation of bob": f"{STEP}; INSERT INTO curator.relations VALUES (1, 1, '', 'r', '[]', 'bob', {NOW}, false)",
    "an attribute of bob": f"INSERT INTO curator.mention_attributes VALUES (2, 1, 1, 1, NULL, 1, 0, 'bob', {NOW}, '')",
    "a claim of bob": "INSERT INTO curator.claims VALUES (2, 'bob', now())",
    "bob's claim": "UPDATE curator.claims SET curator = 'ada'",
    "bob's claim, given back": "DELETE FROM curator.claims",
    "the author of an entity": f"{STEP}; UPDATE curator.provisional_entities SET author = 'carl'",
    "a mention of a round": "INSERT INTO curator.round_mentions VALUES (1, 1, 'ada')",
    "a round": f"INSERT INTO curator.rounds VALUES (2, 's', 'blind', {NOW}, false)",
    "a closed round": "UPDATE curator.rounds SET closed = true",
    "another document in a round": "INSERT INTO curator.round_documents VALUES (1, 2)",
}
WITHOUT_A_STEP = {
    "hide a mention": "UPDATE mentions SET deleted = true WHERE id = 1",
    "move a mention": "UPDATE mentions SET start_pos = 1 WHERE id = 1",
    "undecide a mention": "UPDATE mentions SET outcome = NULL, decision_id = NULL WHERE id = 1",
    "add a mention": "INSERT INTO mentions (id, document_id, start_pos, end_pos, fragmented, deleted, record, text,"
    " type, origin, raw_ids, flagged, string_key)"
    " VALUES (6, 1, 0, 1, false, false, 0, 'a', 'a', 'curator', '', false, '')",
    "take parts away": "DELETE FROM fragments",
    "finish a document": "UPDATE documents SET state = 'done'",
    "flag a document": "UPDATE documents SET flagged = true",
    "hide a comment": "UPDATE comments SET deleted = true",
    "rename an entity": "UPDATE provisional_entities SET name = 'x'",
}
UNREADABLE = {
    "a step of no kind": STEP.replace("decide", "x"),
    "a step at no time": STEP.replace(NOW, "'now'"),
    "a step that cannot be parsed": STEP.replace("{}", "{"),
    "a step about no mentions": STEP.replace("{}", '{"ended": [{"mentions": ["x"], "text": ""}]}'),
    "a step about no relations": STEP.replace("{}", '{"relations": {"r": ["x"]}}'),
    "a decision of no kind": f"{STEP}; {DECISION} (3, 1, 3, 'x', '[]', 'ada', {NOW}, '')",
    "a decision without a reason": f"{STEP}; {DECISION} (3, 1, 3, 'nil', '[]', 'ada', {NOW}, '')",
    "a link to nothing": f"{STEP}; {DECISION} (3, 1, 3, 'link', '[]', 'ada', {NOW}, '')",
    "a link to a number": f"{STEP}; {DECISION} (3, 1, 3, 'link', '[1]', 'ada', {NOW}, '')",
    "a decision at no time": f"{STEP}; {DECISION} (3, 1, 3, 'cleared', '[]', 'ada', '9999-99-99', '')",
    "a judgement of no kind": JUDGEMENT + f"(2, 1, 2, 'ada', 'x', '[]', {NOW}, '')",
    "a relation of nothing": f"{STEP}; INSERT INTO relations VALUES (1, 1, '', 'r', '[1]', 'ada', {NOW}, false)",
    "a mention that ends before it begins": f"{STEP}; UPDATE mentions SET start_pos = 9, end_pos = 1 WHERE id = 1",
    "a mention beyond the text": f"{STEP}; UPDATE mentions SET end_pos = 99999 WHERE id = 1",
    "a mention of another text": f"{STEP}; UPDATE mentions SET text = 'x' WHERE id = 1",
    "a claim for ever": "INSERT INTO claims VALUES (2, 'ada', 'infinity')",
    "a document of no state": f"{STEP}; UPDATE documents SET state = 'x'",
    "a list of rounds that is none": "INSERT INTO meta VALUES ('active_rounds', '{')",
    "an attribute without values": """INSERT INTO meta VALUES ('attributes', '[{"id": 1, "name": "a"}]')""",
}
IN_FRONT = """
CREATE TEMP TABLE people AS SELECT 'ada' AS login, 'bob' AS name, 'adjudicator' AS role;
CREATE TEMP TABLE operations AS TABLE curator.operations;
CREATE TEMP TABLE mentions AS SELECT * FROM curator.mentions LIMIT 0;
CREATE TEMP TABLE rounds AS SELECT id, name, kind, at, true AS closed FROM curator.rounds;
CREATE FUNCTION pg_temp.own_name() RETURNS text LANGUAGE sql AS $$ SELECT 'bob'::text $$;
CREATE FUNCTION pg_temp.trusted() RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
SET search_path = pg_temp, curator, pg_catalog;
"""
"""Tables and functions that a name would find first."""
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
                    step = unit.decisions.append_operation(OperationKind.DECIDE, actor=who, at=AT, text="t")
                    unit.decisions.append(
                        [number], [Verdict.nil()], curator=who, at=AT, operation_id=step, shown=[None]
                    )
            with store.write() as unit:
                entity = Entity("NEW:0001", "n", (), ("Disease",), "")
                unit.kb.save_provisional(ProvisionalEntity(entity, "bob", AT))
                unit.mentions.add_comment(1, 1, author="bob", at=AT, text="c")
                one = unit.rounds.create("r", RoundKind.BLIND, [1], at=AT)
                unit.rounds.judge(one, [1], [Verdict.nil()], curator="bob", at=AT)
                made = unit.mentions.add(1, [mention(1, 4, (5, 7))], origin=MentionOrigin.CURATOR, deleted=True)
                unit.rounds.add_mention(one, made[0], "bob")
                unit.mentions.append_attributes([(1, 1, 1)], curator="bob", at=AT, round_id=one)
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
        with pytest.raises(InsufficientPrivilege):
            attempt(logins[login], REWRITING[what])


@pytest.mark.parametrize("what", SCHEMA_CHANGES)
def test_nobody_but_the_owner_changes_the_schema_or_becomes_somebody_else(logins, what):
    for login in ("ada", "rita", "anna"):
        with pytest.raises(InsufficientPrivilege):
            attempt(logins[login], SCHEMA_CHANGES[what])


@pytest.mark.parametrize("what", FORGING)
def test_a_curator_writes_no_row_of_somebody_else(logins, what):
    for before in ("", IN_FRONT):
        with pytest.raises(InsufficientPrivilege):
            attempt(logins["ada"], f"{before}{FORGING[what]}")


@pytest.mark.parametrize("what", UNREADABLE)
def test_no_row_is_written_that_other_clients_cannot_read(logins, what):
    for login in ("ada",) if "text" in what else ("ada", "anna"):  # who imports says where mentions are
        with pytest.raises(InvalidParameterValue, match=r"that no client can read|is not in the text"):
            attempt(logins[login], UNREADABLE[what].replace("'ada'", f"'{login}'"))


def test_every_kind_of_step_and_decision_can_be_written(logins):
    for one in OperationKind:
        logins["ada"].execute(STEP.replace("'decide'", f"'{one}'"))
        logins["ada"].rollback()
    reasons = {Outcome.NIL: NilReason, Outcome.REJECTED: RejectReason, Outcome.SKIPPED: SkipReason}
    for outcome in Outcome:
        for reason in reasons.get(outcome, [""]):
            ids = '["X"]' if outcome is Outcome.LINK else "[]"
            asked = "SELECT curator.is_verdict(%s, %s, %s)"
            assert logins["ada"].execute(asked, (outcome, ids, reason or None)).fetchone() == (True,), (outcome, reason)


@pytest.mark.parametrize("what", WITHOUT_A_STEP)
def test_nothing_changes_without_a_step_that_names_who_did_it(logins, what):
    with pytest.raises(InsufficientPrivilege, match="only with a step of this login"):
        attempt(logins["ada"], WITHOUT_A_STEP[what])


def test_an_adjudicator_keeps_to_the_log_too(logins):
    for sql in (
        "UPDATE decisions SET outcome = 'nil'",
        "DELETE FROM operations",
        "UPDATE judgements SET outcome = 'nil'",
        "UPDATE people SET role = 'adjudicator'",
        "UPDATE schema_version SET version = 1",
        f"INSERT INTO imports VALUES (1, 1, 1, 'import', 'bob', {NOW}, '{{}}')",
        FORGING["a step of bob"],
        FORGING["a decision of bob"].replace("'ada'", "'anna'"),
        FORGING["a decision in bob's step"],
    ):
        with pytest.raises(InsufficientPrivilege):
            attempt(logins["anna"], sql)
    hidden = "INSERT INTO source_files VALUES (2, '', '', '', '', '', '', '', '', false, false)"
    for sql in ("DELETE FROM decisions", f"{hidden}; UPDATE documents SET file_id = 2; DELETE FROM decisions"):
        with pytest.raises(IntegrityConstraintViolation, match="append-only"):
            attempt(logins["anna"], sql)


def test_the_current_decision_is_the_last_one_whatever_a_client_says(logins):
    conn = logins["ada"]
    conn.execute(STEP)
    conn.execute(f"{DECISION} (3, 1, 3, 'link', '[\"X\"]', 'ada', {NOW}, '')")
    for values in ("outcome = 'link', decision_id = 1", "outcome = NULL, decision_id = NULL"):
        conn.execute(f"UPDATE mentions SET {values} WHERE id = 1")
        assert conn.execute("SELECT outcome, decision_id FROM mentions WHERE id = 1").fetchall() == [("link", 3)]
    conn.rollback()


def test_steps_of_a_client_that_takes_no_turn_wait_for_those_that_do(logins):
    ada, bob = logins["ada"], logins["bob"]
    ada.execute(STEP)
    with pytest.raises(psycopg.errors.LockNotAvailable):
        attempt(bob, f"SET LOCAL lock_timeout = 50; {STEP.replace('ada', 'bob')}")
    ada.rollback()


def test_an_undo_brings_back_what_somebody_else_decided_in_their_name(logins):
    conn = logins["ada"]
    conn.execute(UNDOING)
    conn.execute(f"{DECISION.replace('note', 'note, reason')} (3, 1, 3, 'nil', '[]', 'bob', {NOW}, '', 'not-in-kb')")
    conn.rollback()


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
    conn.execute(IN_FRONT)
    assert seen(conn, "SELECT count(*) FROM curator.judgements") == 0
    with pytest.raises(InsufficientPrivilege, match="row-level security"):
        attempt(conn, "SET row_security = off; SELECT * FROM judgements")


def test_a_closed_round_is_seen_and_takes_no_judgement(logins):
    attempt(logins["owner"], "UPDATE rounds SET closed = true")
    assert seen(logins["ada"], "SELECT curator FROM judgements") == "bob"
    with pytest.raises(InsufficientPrivilege, match="the round is closed"):
        attempt(logins["ada"], JUDGEMENT + f"(2, 1, 2, 'ada', 'cleared', '[]', {NOW}, '')")
    attempt(logins["owner"], "UPDATE rounds SET closed = false")


def test_nothing_was_changed(server, project):
    found = server.sql("SELECT outcome, curator FROM curator.decisions ORDER BY id", base=project.base)
    assert found == [("nil", "bob"), ("nil", "ada")]
    assert server.sql("SELECT actor FROM curator.operations ORDER BY id", base=project.base) == [("bob",), ("ada",)]
