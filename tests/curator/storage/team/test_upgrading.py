"""Older and newer shared projects: upgraded with a copy kept, or refused with a sentence and left as they were."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from curator.domain.wording import NewerProjectError, ProjectLockedError, UserError
from curator.services.ports.address import SharedAddress
from curator.services.ports.curation import StepFilter
from curator.storage.team import postgres, upgrading
from curator.storage.team.project import create_shared_project, open_shared_project
from curator.storage.team.schema import FIRST
from tests.postgres import Server

VERSION_11 = (Path(__file__).parent / "version_11.sql").read_text()
NEWEST = upgrading.newest_version()
ROWS = """
INSERT INTO curator.schema_version VALUES (11);
INSERT INTO curator.meta VALUES ('project.id', 'abc'), ('project.name', 'trial');
INSERT INTO curator.operations VALUES (1, 'decide', 'ada', '2024-05-06', 'a % step', NULL, '{}', 1, NULL, '\\x01');
"""
MADE = """
SELECT table_name || '.' || column_name, data_type || is_nullable || coalesce(collation_name, '')
    FROM information_schema.columns WHERE table_schema = 'curator'
UNION SELECT tablename || ' by index', replace(regexp_replace(indexdef, 'INDEX \\S+', ''), 'curator.', '')
    FROM pg_indexes WHERE schemaname = 'curator'
UNION SELECT c.conrelid::regclass || ' by ' || c.contype::text, pg_get_constraintdef(c.oid)
    FROM pg_constraint c WHERE c.connamespace = 'curator'::regnamespace
UNION SELECT t.relname || ' by trigger', pg_get_triggerdef(g.oid) FROM pg_trigger g
    JOIN pg_class t ON t.oid = g.tgrelid WHERE NOT g.tgisinternal AND t.relnamespace = 'curator'::regnamespace
UNION SELECT tablename || ' by policy ' || policyname, cmd || coalesce(qual, '') || coalesce(with_check, '')
    FROM pg_policies WHERE schemaname = 'curator'
UNION SELECT p.oid::regprocedure::text, pg_get_functiondef(p.oid)
    FROM pg_proc p WHERE p.pronamespace = 'curator'::regnamespace
ORDER BY 1, 2
"""
BY_HAND = """
GRANT USAGE, CREATE ON SCHEMA curator TO guest;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA curator TO guest;
GRANT SELECT ON ALL TABLES IN SCHEMA curator TO PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA curator GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO guest;
"""
"""Rights as the manual described them before there were roles, and more."""
RIGHTS = """
SELECT coalesce(r.rolname, 'PUBLIC') || ' ' || c.relname || ' ' || a.privilege_type
FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
WHERE c.relnamespace = 'curator'::regnamespace AND a.grantee <> c.relowner
    AND c.relname IN ('people', 'operations', 'decisions') ORDER BY 1
"""


@pytest.fixture
def older(server: Server, empty_base: SharedAddress) -> SharedAddress:
    """A project as version 11 made it, with one step."""
    server.sql(f"CREATE SCHEMA curator; SET search_path = curator; {VERSION_11} {ROWS}", base=empty_base.base)
    return empty_base


def version(server: Server, address: SharedAddress, schema: str = "curator") -> object:
    return server.sql(f"SELECT version FROM {schema}.schema_version", base=address.base)[0][0]


def test_an_older_project_is_upgraded_to_what_a_new_one_is(server, older):
    assert FIRST == 11
    with open_shared_project(older) as store, store.read() as unit:
        assert unit.meta.get("project.name") == "trial"
        assert [one.operation.text for one in unit.decisions.steps(StepFilter(), limit=9)] == ["a % step"]
    assert version(server, older) == NEWEST
    base = server.new_base()
    create_shared_project(SharedAddress.parse(server.address(base)), name="new").close()
    assert server.sql(MADE, base=older.base) == server.sql(MADE, base=base)
    server.drop(base)


def test_the_copy_brings_the_older_project_back_with_its_guards(server, older):
    before = server.sql(MADE, base=older.base)
    open_shared_project(older).close()
    server.sql(
        "ALTER SCHEMA curator RENAME TO curator_v12; ALTER SCHEMA curator_v11 RENAME TO curator", base=older.base
    )
    assert (version(server, older), server.sql(MADE, base=older.base)) == (11, before)
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="operations are append-only"):
        server.sql("SET search_path = curator; DELETE FROM operations", base=older.base)
    open_shared_project(older).close()  # again, with another copy
    assert version(server, older, "curator_v11") == 11


def test_a_copy_keeps_what_later_versions_guard(server, empty_base, monkeypatch):
    create_shared_project(empty_base, name="trial").close()
    before = server.sql(MADE, base=empty_base.base)
    monkeypatch.setattr(upgrading, "STEPS", (*upgrading.STEPS, ("CREATE TABLE more (id INT)",)))
    open_shared_project(empty_base).close()
    server.sql(f"DROP SCHEMA curator CASCADE; ALTER SCHEMA curator_v{NEWEST} RENAME TO curator", base=empty_base.base)
    assert server.sql(MADE, base=empty_base.base) == before


def test_rights_that_were_granted_by_hand_become_those_of_a_role(server, older):
    server.sql(f"CREATE ROLE guest LOGIN; {BY_HAND}", base=older.base)
    open_shared_project(older).close()
    assert [one for (one,) in server.sql(RIGHTS, base=older.base)] == [
        "guest decisions INSERT",
        "guest decisions SELECT",
        "guest operations INSERT",
        "guest operations SELECT",
        "guest people SELECT",
    ]
    found = server.sql("SELECT login, name, role FROM curator.people", base=older.base)
    assert found == [("guest", "guest", "curator")]
    for sql in ("CREATE TABLE curator.mine (id INT)", "TABLE curator_v11.operations"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            server.sql(sql, base=older.base, user="guest")
    server.sql("CREATE TABLE curator.later (id INT)", base=older.base)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        server.sql("TABLE curator.later", base=older.base, user="guest")
    server.sql("DROP OWNED BY guest; DROP ROLE guest", base=older.base)


def test_an_upgrade_that_fails_leaves_the_older_project(server, older, monkeypatch):
    before = server.sql(MADE, base=older.base)
    monkeypatch.setattr(upgrading, "STEPS", (*upgrading.STEPS, ("CREATE TABLE half (id INT)", "SELECT 1/0")))
    with pytest.raises(Exception, match="division by zero"):
        open_shared_project(older)
    assert (version(server, older), server.sql(MADE, base=older.base)) == (11, before)
    assert server.sql("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'curator_%'", base=older.base) == []


def test_an_older_project_is_not_upgraded_by_reading_nor_by_a_login_without_rights_nor_under_a_writer(
    server, older, monkeypatch
):
    monkeypatch.setattr(postgres, "PATIENCE", 0.1)
    with pytest.raises(UserError, match=r"older version \(schema 11\). Open it once for writing to upgrade it"):
        open_shared_project(older, read_only=True)
    server.sql(
        "CREATE ROLE guest LOGIN; GRANT USAGE ON SCHEMA curator TO guest;"
        "GRANT SELECT ON ALL TABLES IN SCHEMA curator TO guest",
        base=older.base,
    )
    with pytest.raises(UserError, match=r"your login may not upgrade it\. Its owner must open it"):
        open_shared_project(SharedAddress.parse(server.address(older.base, user="guest")))
    server.sql("DROP OWNED BY guest; DROP ROLE guest", base=older.base)
    with psycopg.connect(older.text) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (0x43757261,))  # as a program of version 11 does
        with pytest.raises(ProjectLockedError, match="is open for writing in another process"):
            open_shared_project(older)
        other.execute("SELECT pg_advisory_lock_shared(%s), pg_advisory_unlock(%s)", (0x43757261, 0x43757261))
        with pytest.raises(ProjectLockedError, match="is open for writing in another process"):
            open_shared_project(older)
    assert version(server, older) == 11


def test_a_newer_project_is_refused(server, empty_base):
    create_shared_project(empty_base, name="trial").close()
    server.sql(f"UPDATE curator.schema_version SET version = {NEWEST + 1}", base=empty_base.base)
    for read_only in (False, True):
        with pytest.raises(NewerProjectError, match=rf"newer version of this program \(schema {NEWEST + 1};"):
            open_shared_project(empty_base, read_only=read_only)
