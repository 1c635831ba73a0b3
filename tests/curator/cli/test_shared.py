"""The commands on a shared project: what they write is what they write for a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.curator.cli.conftest import Cli
from tests.postgres import Server

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.fixture
def base(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an empty database."""
    monkeypatch.setenv("CURATOR_SHARED_DIR", str(tmp_path / "shared"))
    monkeypatch.setattr("curator.project.SystemClock.now", lambda _: NOW)  # formats name the time of a decision
    name = server.new_base()
    yield server.address(name)
    server.drop(name)


def worked(cli: Cli, place: Path | str, kb: Path, documents: Path, out: Path) -> list[object]:
    """What the commands of a day answer, and the bytes of what they export."""
    out.mkdir()
    answers: list[object] = []
    for command in (
        ("kb", "import", place, kb),
        ("import", place, documents, "--gold", "--hold-out", "2"),
        ("link", place),
        ("decide", place, 1, "--nil", "not-in-kb", "--curator", "ada"),
        ("decide", place, 2, "--skip", "unsure", "--curator", "bob"),
        ("undo", place, "--curator", "bob"),
        ("info", place, "--json"),
        ("work", place, "--json"),
        ("stats", place, "--json"),
        ("kb", "search", place, "a", "--json"),
    ):
        answer = cli(*command)
        answers.append((command[0], answer.code, answer.err, _comparable(answer.out, place)))
    for form in ("pubtator", "bioc-json", "decisions"):
        answer = cli("export", place, out / f"gold.{form}", "--format", form)
        answers.append((form, answer.code))
    answers += [(one.name, one.read_bytes()) for one in sorted(out.rglob("*")) if one.is_file()]
    return answers


def _comparable(text: str, place: Path | str) -> str:
    """Without the place, how long it took, and when."""
    text = re.sub(r"20\d\d-\d\d-\d\d[ T][\d:.+]+", "TIME", text)
    lines = re.sub(r'"id": "[^"]*", "recipe"', '"recipe"', text.replace(str(place), "P")).splitlines()
    return "\n".join(line for line in lines if "Imported in" not in line and '"at"' not in line and " s." not in line)


def test_a_shared_project_gives_what_a_folder_gives(
    cli: Cli, base: str, tmp_path: Path, kb_file: Path, documents_file: Path
) -> None:
    folder = tmp_path / "trial.curation"
    assert cli("new", folder).code == 0
    made = cli("new", base, "--name", "trial")
    assert (made.code, made.out) == (0, f"Created {base}.\n"), made.err
    here = worked(cli, folder, kb_file, documents_file, tmp_path / "here")
    there = worked(cli, base, kb_file, documents_file, tmp_path / "there")
    for one, other in zip(here, there, strict=True):
        assert one == other


def test_a_linker_made_on_one_computer_is_fetched_by_another(
    cli: Cli, base: str, tmp_path: Path, kb_file: Path, documents_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("new", base).code == 0
    worked(cli, base, kb_file, documents_file, tmp_path / "out")
    name = cli("info", base, "--json").json["bundle"]["id"]
    [made] = (tmp_path / "shared").glob(f"*/*/bundles/{name}/manifest.json")
    monkeypatch.setenv("CURATOR_SHARED_DIR", str(tmp_path / "another"))
    assert cli("info", base, "--json").json["bundle"]["id"] == name
    [fetched] = (tmp_path / "another").glob("*/*/bundles/*/manifest.json")
    assert fetched.read_bytes() == made.read_bytes()
    assert cli("link", base, "--json").code == 0


@pytest.mark.parametrize("command", [("check",), ("restore",), ("salvage", "-o", "out.jsonl")])
def test_commands_for_folders_say_so(cli: Cli, command: tuple[str, ...]) -> None:
    """Before anything is connected."""
    answer = cli(command[0], "postgresql://nowhere.invalid/base", *command[1:])
    assert (answer.code, answer.out) == (2, "")
    assert "folder" in answer.err


def test_bad_addresses_get_a_sentence(
    cli: Cli, base: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.sql("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    monkeypatch.setenv("PGPASSWORD", "wrong")
    for address, text in (
        ("postgresql://ada:secret@host/base", "must not contain a password"),
        ("postgresql://host", "is not the address of a shared project"),
        (server.address("postgres", user="guarded"), "did not accept the user or the password"),
        (server.address("nothing"), "There is no database of this name"),
        (server.address("postgres", user="nobody_here"), "did not accept the user or the password"),
        (f"postgresql:///base?host={tmp_path}", "No PostgreSQL server answers at"),
        (base, "holds no project of this program"),
    ):
        answer = cli("info", address)
        assert (answer.code, answer.out) == (2, ""), address
        assert text in answer.err
        assert "secret" not in answer.err
        assert "wrong" not in answer.err
    server.sql("DROP ROLE guarded")
    answer = cli("new", tmp_path / "p.curation", "--name", "other")
    assert (answer.code, "--name is for shared projects" in answer.err) == (2, True)


def test_documents_are_handed_out_to_one_curator_each(cli: Cli, base: str, documents_file: Path) -> None:
    assert cli("new", base).code == 0
    assert cli("work", base, "--next").out == "No document is left that nobody else has.\n"
    assert cli("import", base, documents_file).code == 0
    ada, bob, again = (cli("work", base, "--next", "--curator", who, "--json").json for who in ("ada", "bob", "ada"))
    assert (ada["document_id"], bob["document_id"], again) == (1, 2, ada)
    assert f"{ada['mentions'][0]['mention_id']}  Lidocaine" in cli("work", base, "--next", "--curator", "ada").out


def test_an_owner_says_who_may_do_what(
    cli: Cli, base: str, server: Server, tmp_path: Path, kb_file: Path, documents_file: Path
) -> None:
    others = tmp_path / "others.pubtator"
    others.write_text("9|t|Aspirin\n9|a|Text.\n\n", encoding="utf-8")
    other_kb = tmp_path / "other.jsonl"
    other_kb.write_text('{"id": "X:1", "name": "One", "types": ["X"]}\n', encoding="utf-8")
    assert cli("new", base).code == 0
    assert cli("kb", "import", base, kb_file).code == 0
    assert cli("import", base, documents_file, "--gold").code == 0
    assert cli("rounds", "new", base, "r", "--documents", 1).code == 0
    of = {who: base.replace("owner@", f"{who}@") for who in ("ada", "rita")}
    server.logins(*of)
    answer = cli("people", "grant", base, "ada", "curator", "--name", "Ada L.")
    assert (answer.code, answer.out) == (0, "ada: curator, decides as “Ada L.”.\n"), answer.err
    assert cli("people", "grant", base, "rita", "reader").code == 0
    found = cli("people", "list", of["rita"]).out.splitlines()
    assert found == ["owner: owner", "ada: curator, decides as “Ada L.”", "rita: reader"]
    assert cli("decide", of["ada"], 1, "--nil", "not-in-kb").code == 0
    assert cli("audit", of["rita"], tmp_path / "audit.csv").code == 0
    assert "Ada L." in (tmp_path / "audit.csv").read_text("utf-8")
    for command, text in (
        (("people", "grant", base, "eve", "curator"), "has no login eve"),
        (("people", "grant", base, "rita", "curator", "--name", "Ada L."), "ada decides as “Ada L.”"),
        (("people", "grant", base, "rita", "curator", "--name", "import:a"), "Nobody can decide as “import:a”"),
        (("people", "grant", base, "rita", "owner"), "another owner would be an administrator too"),
        (("people", "grant", base, "owner", "reader"), "owner is an owner of"),
        (("people", "revoke", base, "owner"), "owner is an owner of"),
        (("people", "revoke", base, "eve"), "eve has no role"),
        (("people", "grant", of["ada"], "ada", "adjudicator"), "Only an owner of"),
        (("people", "list", tmp_path), "Roles are for shared projects"),
        (("decide", of["ada"], 1, "--nil", "not-in-kb", "--curator", "bob"), "Your login decides as “Ada L.” in"),
        (("decide", of["rita"], 1, "--nil", "not-in-kb"), "Your login may only read"),
        (("kb", "import", of["ada"], other_kb), "adjudicators and owners may take it"),
        (("import", of["ada"], others), "curator people grant"),
        (("rounds", "close", of["ada"], "r"), "adjudicators and owners may take it"),
        (("rounds", "new", of["ada"], "s", "--documents", 1), "adjudicators and owners may take it"),
        (("move", of["ada"], tmp_path / "moved.curation"), "Your login does not see everything"),
        (("index", of["ada"]), "Adjudicators and owners build and train its linkers"),
    ):
        answer = cli(*command)
        assert (answer.code, answer.out) == (2, ""), command
        assert text in answer.err
    assert cli("index", base).code == 0
    assert cli("link", of["ada"], "--json").code == 0
    assert cli("people", "revoke", base, "ada").code == 0
    assert "Your login has no role in" in cli("info", of["ada"]).err
    assert cli("people", "grant", base, "ada", "curator", "--name", "Ada L.").code == 0
    server.sql('ALTER ROLE "ada" RENAME TO "ada.new"')
    assert cli("people", "revoke", base, "ada").code == 0  # only the row is left
    assert cli("people", "grant", base, "ada.new", "curator", "--name", "Ada L.").code == 0
    assert cli("decide", base.replace("owner@", "ada.new@"), 1, "--nil", "not-in-kb").code == 0
    server.sql('ALTER ROLE "ada.new" RENAME TO "ada"')
    assert "may not create a project in the database" in cli("new", server.address("postgres", user="rita")).err
