"""CTD's vocabularies and MEDIC."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curator.domain.entities import Entity
from curator.domain.wording import UserError
from curator.io.kb.ctd import CtdReader, MedicReader

Put = Callable[..., Path]

HEAD = "# MDI Biological Laboratory\n#\n# Fields:\n#"
DISEASES = "DiseaseName\tDiseaseID\tAltDiseaseIDs\tDefinition\tParentIDs\tTreeNumbers\tParentTreeNumbers\tSynonyms"


def test_diseases(put: Put) -> None:
    row = 'One "odd" disease\tMESH:D1\tOMIM:2|DO:DOID:3\tIs ill.\tMESH:D0\tC01.1\tC01\tUno|Un'
    reader = CtdReader.open(put(f"{HEAD} {DISEASES}\n{row}\n\tMESH:D9\n{row}\tmore\n"))
    assert list(reader) == [
        Entity(
            "MESH:D1",
            'One "odd" disease',
            ("Uno", "Un"),
            ("Disease",),
            "Is ill.",
            ("OMIM:2", "DOID:3"),
            ("C01.1",),
            ("MESH:D0",),
        )
    ]
    assert [(one.line, one.severity) for one in reader.problems] == [(6, "set aside"), (7, "set aside")]


def test_genes_have_bare_ids_and_the_csv_has_quotes(put: Put) -> None:
    text = f'{HEAD} GeneSymbol,GeneName,GeneID,AltGeneIDs,Synonyms\nA1,"one, two",7,8|9,B1|C1\n'
    assert list(CtdReader.open(put(text))) == [
        Entity("NCBIGene:7", "A1", ("one, two", "B1", "C1"), ("Gene",), "", ("NCBIGene:8", "NCBIGene:9"))
    ]


def test_a_blank_id_or_name_is_none(put: Put) -> None:
    reader = CtdReader.open(put(f"{HEAD} GeneSymbol,GeneName,GeneID\nA1,one,7\nA2,two, \n ,three,8\n"))
    assert [one.id for one in reader] == ["NCBIGene:7"]
    assert [(one.line, one.severity) for one in reader.problems] == [(6, "set aside"), (7, "set aside")]


def test_medic(put: Put) -> None:
    reader = MedicReader.open(put("270400|D019082||One|Uno\n" + 5 * "C1||Two\n" + "broken\n"))
    assert list(reader) == [
        Entity("OMIM:270400", "One", ("Uno",), ("Disease",), "", ("MESH:D019082",)),
        Entity("MESH:C1", "Two", (), ("Disease",)),
    ]
    assert [one.line for one in reader.problems] == [3, 4, 5, 6, 7], "the first of an id is kept"
    with pytest.raises(UserError, match="not MEDIC"):
        MedicReader.open(put("id|name\n1|x\n"))
