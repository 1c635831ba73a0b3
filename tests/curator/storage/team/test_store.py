"""Units of work on a server: what they keep, who may write, and what is said when the server is gone."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from curator.domain.decisions import OperationKind, Verdict
from curator.domain.wording import UserError
from curator.services.ports.address import SharedAddress
from curator.services.ports.storage import Role
from curator.storage.team.project import open_shared_project
from curator.storage.team.roles import refusals
from tests.curator.storage.filler import AT, Filler
from tests.postgres import Server

ACL = "aclcheck_error"


def test_what_is_set_for_a_login_changes_neither_answers_nor_what_is_saved(server: Server, shared):
    settings = {
        "DateStyle": "German",
        "extra_float_digits": "0",
        "standard_conforming_strings": "off",
        "synchronous_commit": "off",
    }
    for name, value in settings.items():
        server.sql(f"ALTER ROLE owner SET {name} = '{value}'")
    try:
        with open_shared_project(shared) as store, store.write() as unit:
            shown = [unit.connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in settings]
            assert shown == ["ISO, MDY", "1", "on", "on"]
    finally:
        server.sql("ALTER ROLE owner RESET ALL")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("keine Berechtigung für Schema curator", "has no role"),
        ("droit refusé pour la base de données base1", "may not create a project"),
        ("テーブルdecisionsへのアクセスが拒否されました", "may only read"),
        ("отказано в доступе к таблице kb_pieces", "needs another role"),
    ],
)
def test_what_a_role_lacks_is_said_whatever_the_language_of_the_server(said, text):
    denied = type("Denied", (Exception,), {"sqlstate": "42501", "diag": SimpleNamespace(source_function=ACL)})
    place = SharedAddress.parse("postgresql://db/base1")
    with pytest.raises(UserError, match=text), refusals(place, Role.CURATOR):
        raise denied(said)


def test_several_write_and_others_read(shared):
    with (
        open_shared_project(shared) as store,
        open_shared_project(shared) as second,
        open_shared_project(shared, read_only=True) as other,
    ):
        for writer, value in ((store, "v"), (second, "w")):
            with writer.write() as unit:
                unit.meta.set("k", value)
            with other.read() as unit:
                assert unit.meta.get("k") == value


def test_writers_of_several_clients_take_turns_and_number_without_gaps(server: Server, shared):
    with open_shared_project(shared) as store, open_shared_project(shared) as second:
        ids = Filler(store).mentions(30)
        work = [threading.Thread(target=decide_all, args=(one, ids[i::2])) for i, one in enumerate((store, second))]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
    found = server.sql("SELECT id, operation_id, hash FROM curator.decisions ORDER BY id", base=shared.base)
    assert [(one, step) for one, step, _ in found] == [(n, n) for n in range(1, 31)]
    assert len({hash_ for *_, hash_ in found}) == 30


def decide_all(store, ids):
    for one in ids:
        with store.write() as unit:
            step = unit.operations.append(OperationKind.DECIDE, actor="ada", at=AT, text="t")
            unit.decisions.append([one], [Verdict.nil()], curator="ada", at=AT, operation_id=step, shown=[None])


def test_what_is_written_is_saved_at_once(shared):
    with open_shared_project(shared) as store:
        heard, before = [], store.written
        end = store.on_saving(heard.append)
        with store.write() as unit:
            unit.meta.set("k", "v")
        end()
        store.settle()
        assert store.written == before + 1
        assert [one.holds(store.written) for one in heard] == [True]


def test_a_server_that_ends_is_said_and_what_was_saved_is_there_when_it_is_back(server: Server, shared):
    server.sql("ALTER SYSTEM SET synchronous_commit = on", "SELECT pg_reload_conf()")
    with open_shared_project(shared) as store:
        with store.write() as unit:
            unit.meta.set("k", "saved")
        server.stop()
        try:
            for unit_of in (store.read, store.write):
                with pytest.raises(UserError, match=r"answers at|was lost"), unit_of() as unit:
                    unit.meta.get("k")
        finally:
            server.start()
        with store.read() as unit:
            assert unit.meta.get("k") == "saved"
        with store.write() as unit:
            unit.meta.set("k", "again")


def test_a_connection_that_is_cut_in_a_unit_loses_the_unit_alone(server: Server, shared):
    def cut(store):
        with store.write() as unit:
            unit.meta.set("k", "half")
            server.sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'", base=shared.base)
            unit.meta.set("l", "half")

    with open_shared_project(shared) as store:
        with pytest.raises(UserError, match="was lost: nothing of this step was saved"):
            cut(store)
        with store.write() as unit:
            assert unit.meta.get("k") is None


def test_a_closed_store_is_a_bug(shared):
    store = open_shared_project(shared)
    store.close()
    store.close()
    with pytest.raises(RuntimeError, match="closed"), store.read():
        pass
