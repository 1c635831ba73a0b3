"""`curator formats`: every registered format, with what it can carry."""

from __future__ import annotations

from curator.io.registry import default_registry
from tests.curator.cli.conftest import Cli


def test_every_format_is_listed_for_people_and_for_programs(cli: Cli) -> None:
    found = cli("formats", "--json").json
    listed = {one["name"]: one for one in found["documents"]}
    registry = default_registry()
    assert set(listed) == {one.name for one in registry.formats()}
    assert (listed["bioc-xml"]["in"], listed["bioc-xml"]["out"], listed["bioc-xml"]["discontinuous"]) == (True,) * 3
    assert (listed["pubtator"]["relations"], listed["pubtator"]["discontinuous"]) == (True, False)
    assert (listed["pubmed-xml"]["out"], listed["pubmed-xml"]["mentions"]) == (False, False)
    assert {one["name"] for one in found["knowledge_bases"]} >= {"obo", "jsonl"}
    lines = cli("formats").out.splitlines()
    assert lines[0].split()[:4] == ["Name", "Format", "In", "Out"]
    [bioc] = [line for line in lines if line.startswith("bioc-json ")]
    assert bioc.split()[1:5] == ["BioC", "JSON", "yes", "yes"]


def test_a_format_says_of_itself_what_it_carries() -> None:
    for one in default_registry().formats():
        carried = one.carries
        assert carried.mentions or not any((carried.discontinuous, carried.several_ids, carried.nil)), one.name
        assert one.can_read or one.can_write
