"""MeSH in XML and ASCII."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curator.domain.entities import Entity
from curator.domain.wording import UserError
from curator.io.kb.mesh import MeshAsciiReader, MeshXmlReader

Put = Callable[..., Path]

CONCEPT = (
    '<ConceptList><Concept PreferredConceptYN="N"><ScopeNote>Narrower.</ScopeNote><TermList><Term><String>Two</String>'
    '</Term></TermList></Concept><Concept PreferredConceptYN="Y"><ScopeNote> What it\n is. </ScopeNote><TermList>'
    "<Term><String>One &amp; only</String></Term><Term><String>Only one</String></Term></TermList></Concept>"
    "</ConceptList>"
)
DESCRIPTORS = f"""<?xml version="1.0"?><!DOCTYPE DescriptorRecordSet SYSTEM "https://nowhere.example/x.dtd">
<DescriptorRecordSet><DescriptorRecord DescriptorClass="1"><DescriptorUI>D000001</DescriptorUI><DescriptorName>
<String>One &amp; only</String></DescriptorName><TreeNumberList><TreeNumber>C01.1</TreeNumber><TreeNumber>F03.2
</TreeNumber><TreeNumber>D02</TreeNumber></TreeNumberList>{CONCEPT}</DescriptorRecord>
<DescriptorRecord><DescriptorUI>D000002</DescriptorUI><DescriptorName><String>Above</String></DescriptorName>
<TreeNumberList><TreeNumber>C01</TreeNumber></TreeNumberList></DescriptorRecord>
<DescriptorRecord><DescriptorUI>D000003</DescriptorUI></DescriptorRecord></DescriptorRecordSet>"""


def test_descriptors(put: Put) -> None:
    reader = MeshXmlReader.open(put(DESCRIPTORS))
    first, second = reader
    assert first == Entity(
        "MESH:D000001",
        "One & only",
        ("Two", "Only one"),
        ("Disease", "Chemical"),
        "What it is.",
        (),
        ("C01.1", "F03.2", "D02"),
        ("MESH:D000002",),
    )
    assert (second.name, second.types, second.parents) == ("Above", ("Disease",), ())
    assert [(one.line, one.severity) for one in reader.problems] == [(8, "set aside")]


def test_entities_of_the_file_are_refused(put: Put) -> None:
    bomb = '<!DOCTYPE a [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>' + DESCRIPTORS.partition(">")[2].partition(">")[2]
    with pytest.raises(UserError, match="declares XML entities"):
        list(MeshXmlReader.open(put(bomb)))


def test_broken_and_foreign_xml(put: Put) -> None:
    with pytest.raises(UserError, match=r"line 5.*broken XML"):
        list(MeshXmlReader.open(put(DESCRIPTORS[:700])))
    with pytest.raises(UserError, match="is not MeSH XML"):
        MeshXmlReader.open(put("<html/>"))


ASCII = """*NEWRECORD
RECTYPE = D
MH = One
ENTRY = Uno|T109|LAB|NRW|NLM (1991)|900308|abbcdef
PRINT ENTRY = Un
MN = C01.1
MS = What it is.
UI = D000001

*NEWRECORD
RECTYPE = D
MH = Above
MN = C01
UI = D000002

*NEWRECORD
RECTYPE = C
NM = Made
SY = Maid|T1
SC = 3
NO = A note.
UI = C000003

*NEWRECORD
RECTYPE = Q
SH = therapy
UI = Q000004
"""


def test_ascii(put: Put) -> None:
    reader = MeshAsciiReader.open(put(ASCII.replace("\n", "\r\n")))
    first, _, made = reader
    assert first == Entity(
        "MESH:D000001", "One", ("Uno", "Un"), ("Disease",), "What it is.", (), ("C01.1",), ("MESH:D000002",)
    )
    assert made == Entity("MESH:C000003", "Made", ("Maid",), ("Disease",), "A note.")
    assert [one.text for one in reader.problems] == ["1 qualifier was skipped: it is not an entity"]
