"""kb tree, kb nils, kb make, kb new and kb remap."""

from __future__ import annotations

import json
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


def test_a_name_that_exists_already_is_said(cli: Cli, project: Path) -> None:
    made = cli("kb", "make", project, "Cardiac arrests")
    assert "Note: this name already exists: Heart Arrest (MESH:D006323)." in made.out
    again = cli("kb", "make", project, "cardiac-arrest", "--json").json
    assert (again["id"], again["same_named"]) == ("NEW:0002", ["MESH:D006323", "NEW:0001"])
    assert "Note" not in cli("kb", "make", project, "Blorbitis").out


TREE = (
    {"id": "T:1", "name": "Heart diseases", "types": ["Disease"]},
    {"id": "T:2", "name": "Arrhythmia", "types": ["Disease"], "parents": ["T:1"], "alt_ids": ["OLD:2"]},
    {"id": "T:3", "name": "Atrial flutter", "types": ["Disease"], "parents": ["T:2"]},
    {"id": "T:4", "name": "Round", "parents": ["T:5"]},
    {"id": "T:5", "name": "About", "parents": ["T:4"]},
    {"id": "T:6", "name": "Same"},
    {"id": "T:7", "name": "Same"},
)


def test_the_hierarchy_is_shown_from_the_top_and_from_an_entity(cli: Cli, project: Path, tmp_path: Path) -> None:
    kb = tmp_path / "tree.jsonl"
    kb.write_text("".join(json.dumps(one) + "\n" for one in TREE), encoding="utf-8")
    assert cli("kb", "import", project, kb).code == 0
    assert cli("kb", "tree", project).out == "T:1  Heart diseases  (Disease)  2 below\nT:4  Round  ()  1 below\n"
    assert cli("kb", "tree", project, "arrhythmia", "--depth", "3").out == (
        "Heart diseases > Arrhythmia\n"
        "  broader: T:1  Heart diseases  (Disease)  2 below\n"
        "T:2  Arrhythmia  (Disease)  1 below\n"
        "  T:3  Atrial flutter  (Disease)\n"
    )
    found = cli("kb", "tree", project, "T:4", "--depth", "9", "--json").json
    [about] = found["narrower"]
    [again] = about["narrower"]
    assert (about["id"], again["id"], "narrower" in again) == ("T:5", "T:4", False), "a cycle ends"
    assert again["listed_above"] is True
    assert "  listed above" in cli("kb", "tree", project, "T:4", "--depth", "9").out
    assert cli("kb", "tree", project, "OLD:2", "--json").json["entity"]["id"] == "T:2"
    assert "… and 1 more" in cli("kb", "tree", project, "--limit", "1").out
    assert "Several entities are called Same" in cli("kb", "tree", project, "Same").err
    wrong = cli("kb", "tree", project, "nothing")
    assert (wrong.code, "has no entity nothing" in wrong.err) == (2, True)


def test_a_knowledge_base_without_hierarchy_says_so(cli: Cli, project: Path) -> None:
    assert cli("kb", "tree", project).out == "No entity of the knowledge base is above another.\n"


def test_candidates_and_search_are_restricted_to_branches(cli: Cli, project: Path, tmp_path: Path) -> None:
    kb, ids = tmp_path / "tree.jsonl", tmp_path / "ids.txt"
    kb.write_text("".join(json.dumps(one) + "\n" for one in TREE), encoding="utf-8")
    ids.write_text("T:2\n\n T:4 \n", encoding="utf-8")
    assert cli("kb", "import", project, kb).code == 0
    assert "Nothing is restricted" in cli("kb", "restrict", project).out
    said = cli("kb", "restrict", project, "heart diseases", "--type", "SpecificDisease").out
    assert "SpecificDisease: T:1 Heart diseases" in said
    assert cli("kb", "search", project, "round", "--type", "SpecificDisease", "--json").json["entities"] == []
    listed = cli("kb", "restrict", project, "--file", ids, "--type", "SpecificDisease", "--add", "--json").json
    assert listed["branches"] == {"SpecificDisease": ["T:1", "T:2", "T:4"]}
    assert "no longer restricted" in cli("kb", "restrict", project, "--lift", "--type", "SpecificDisease").out
    assert cli("kb", "restrict", project, "--json").json == {"branches": {}}
    assert "has no entity nothing" in cli("kb", "restrict", project, "nothing").err
    assert cli("kb", "restrict", project, "T:1", "--lift").code == 2
    ids.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8 text" in cli("kb", "restrict", project, "--file", ids).err
