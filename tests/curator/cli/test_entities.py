"""kb nils, kb make, kb new and kb remap."""

from __future__ import annotations

from pathlib import Path

from tests.curator.cli.conftest import Cli


def test_from_nil_to_a_new_entity_to_the_next_knowledge_base(cli: Cli, project: Path, tmp_path: Path) -> None:
    [cluster] = cli("kb", "nils", project, "--json").json["clusters"]
    assert (cluster["name"], len(cluster["mention_ids"])) == ("blorbitis", 8)
    assert "blorbitis" in cli("kb", "nils", project).out
    assert cli("kb", "nils", project, "--suggested", "--json").json["clusters"] == []
    ids = [part for one in cluster["mention_ids"] for part in ("--mention", one)]
    made = cli("kb", "make", project, "Blorbitis", "--type", "Disease", "--synonym", "blorb", *ids, "--json").json
    assert made["id"] == "NEW:0001"
    [entity] = cli("kb", "new", project, "--json").json["entities"]
    assert (entity["name"], entity["synonyms"], entity["mentions"]) == ("Blorbitis", ["blorb"], 8)
    newer = tmp_path / "kb2.jsonl"
    assert cli("kb", "export", project, newer).code == 0
    newer.write_text(newer.read_text(encoding="utf-8").replace("NEW:0001", "MESH:D999"), encoding="utf-8")
    assert "8 decisions to review" in cli("kb", "import", project, newer).out
    listed = cli("kb", "remap", project)
    assert "NEW:0001 Blorbitis  (8 mentions)  ->  MESH:D999 Blorbitis" in listed.out
    assert "Nothing was changed" in listed.out
    assert cli("kb", "remap", project, "--apply", "--json").json["moved"] == 8
    assert cli("kb", "new", project).out == "No entities were created in this project.\n"
    assert cli("kb", "remap", project).out == "Every linked entity is in the knowledge base.\n"


def test_what_is_wrong_is_said(cli: Cli, project: Path) -> None:
    answer = cli("kb", "make", project, " ")
    assert answer.code != 0
    assert "needs a name" in answer.err
