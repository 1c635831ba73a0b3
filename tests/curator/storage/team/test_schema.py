"""Making a project of an empty database, and refusing every other."""

from __future__ import annotations

import sys

import pytest

from curator.domain.wording import InconsistentDataError, UserError
from curator.services.ports.address import SharedAddress
from curator.storage.db.schema import Base
from curator.storage.team import postgres
from curator.storage.team.project import create_shared_project, open_shared_project
from tests.curator.storage.filler import Filler, document, mention

OWN = ("kb_pieces", "linkers", "linker_pieces", "schema_version", "claims", "people")


def test_a_project_has_every_table_of_a_folder_and_its_name(server, empty_base):
    with create_shared_project(empty_base, name="trial") as store, store.read() as unit:
        assert unit.meta.get("project.name") == "trial"
        assert store.folder.name == "trial.curation"
        assert not store.read_only
    tables = {
        name
        for (name,) in server.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'curator'", base=empty_base.base)
    }
    assert tables == {*Base.metadata.tables, *OWN}


def test_a_database_that_holds_a_project_or_something_else_is_left_alone(server, empty_base):
    create_shared_project(empty_base, name="trial").close()
    with pytest.raises(UserError, match="holds the project “trial” already"):
        create_shared_project(empty_base, name="again")
    others = ("CREATE TABLE curator.meta (key int)", "CREATE TABLE curator.schema_version (number text)")
    server.sql("DROP SCHEMA curator CASCADE", "CREATE SCHEMA curator", *others, base=empty_base.base)
    with pytest.raises(UserError, match=r"holds something else \(curator.meta\)"):
        create_shared_project(empty_base, name="again")
    with pytest.raises(UserError, match="holds no project of this program"):
        open_shared_project(empty_base)
    server.sql("DROP SCHEMA curator CASCADE", "CREATE TABLE public.orders (id int)", base=empty_base.base)
    with pytest.raises(UserError, match=r"holds something else \(public.orders\)"):
        create_shared_project(empty_base, name="again")
    with pytest.raises(UserError, match="holds no project of this program"):
        open_shared_project(empty_base)
    assert server.sql("SELECT nspname FROM pg_namespace WHERE nspname = 'curator'", base=empty_base.base) == []


def test_a_login_without_rights_is_refused_and_nothing_is_made(server, empty_base):
    server.sql("DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN")
    guest = SharedAddress.parse(server.address(empty_base.base, user="guest"))
    with pytest.raises(UserError, match="Your login may not create a project"):
        create_shared_project(guest, name="trial")
    create_shared_project(empty_base, name="trial").close()
    with pytest.raises(UserError, match="Your login has no role in"):
        open_shared_project(guest)
    server.sql("DROP ROLE guest")


def test_another_encoding_and_an_older_server_are_refused(server, empty_base, monkeypatch):
    server.sql("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")
    with pytest.raises(UserError, match="stores LATIN1; shared projects need UTF8"):
        create_shared_project(SharedAddress.parse(server.address("latin")), name="trial")
    server.drop("latin")
    with monkeypatch.context() as patch:
        patch.delitem(postgres.SESSION, "search_path")  # as a pooler leaves it out
        with pytest.raises(UserError, match="a pooler such as pgbouncer"):
            create_shared_project(empty_base, name="x")
    monkeypatch.setattr("curator.storage.team.postgres.OLDEST", 99)
    with pytest.raises(UserError, match="shared projects need 99 or newer"):
        create_shared_project(empty_base, name="trial")


def test_a_text_that_the_server_cannot_keep_is_refused_with_a_sentence(shared):
    with open_shared_project(shared) as store:
        with pytest.raises(UserError, match=r"U\+0000"), store.write() as unit:
            unit.meta.set("k", "a\x00b")
        with store.read() as unit:
            assert unit.meta.get("k") is None


def test_a_name_of_any_length_is_kept(shared):
    long = "é" * 40_000
    with open_shared_project(shared) as store:
        fill = Filler(store)
        fill.file(document(long, mentions=[mention(0, 5)]))
        with store.read() as unit:
            assert unit.documents.get(fill.stored[0][0]).external_id == long
        with pytest.raises(InconsistentDataError), store.write() as unit:
            unit.connection.exec_driver_sql("UPDATE source_files SET complete = FALSE")


def test_without_psycopg_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    address = SharedAddress.parse("postgresql://nowhere.invalid/base")
    for opened in (open_shared_project, lambda one: create_shared_project(one, name="trial")):
        with pytest.raises(UserError, match=r"pip install 'curator\[team\]'"):
            opened(address)


def test_a_project_that_could_not_be_opened_is_not_created(empty_base, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        (tmp_path / "file").touch()
        patch.setenv("CURATOR_SHARED_DIR", str(tmp_path / "file"))
        with pytest.raises(UserError, match="cannot be created"):
            create_shared_project(empty_base, name="trial")
    create_shared_project(empty_base, name="trial").close()
