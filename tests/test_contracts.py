"""What the window's packages and training's both declare, as neither may import the other, is the same in both."""

from __future__ import annotations

import json
from pathlib import Path

from curator.domain import same_string
from curator.domain.documents import Split
from curator.jobs import bundles
from curator.services.records import stored_evaluations
from curator.services.training import embedding_map
from models.linker import bundle
from tests.curator.services.samples import bundle_info
from tests.training.evaluation.worlds import NAME_CLASSES
from training.data import snapshot
from training.evaluation import embedding_map as trained_map
from training.evaluation.errors import ErrorKind, Relation
from training.evaluation.slices import NameClass


def test_both_name_the_same_splits() -> None:
    assert [(one.name, one.value) for one in Split] == [(one.name, one.value) for one in snapshot.Split]


def test_both_seal_a_manifest_alike() -> None:
    raw = {"id": "a", "files": {"ü": {"size": 1}}, "numbers": [0.1, 1e-9, 3], "seal": "x"}
    assert (bundles.SEAL, bundles.seal_of(raw)) == (bundle.SEAL, bundle.seal_of(raw))


def test_both_name_the_same_kinds_of_errors() -> None:
    assert {one.value for one in stored_evaluations.ErrorKind} == {one.value for one in ErrorKind}
    assert [one.value for one in stored_evaluations.Relation] == [one.value for one in Relation]


def test_both_classify_the_words_of_a_mention_alike() -> None:
    assert [(one.name, one.value) for one in same_string.NameClass] == [(one.name, one.value) for one in NameClass]
    assert [one.value.replace("_", " ") for one in NameClass] == list(same_string.NAME_CLASS_WORDS.values())
    for surface, names, expected in NAME_CLASSES:
        folded = [same_string.folded(one) for one in names]
        is_hard = expected in (NameClass.PART, NameClass.OTHER)
        assert same_string.names_decide(same_string.folded(surface), folded) is not is_hard


def test_the_window_reads_the_map_that_training_writes(tmp_path: Path) -> None:
    kinds = trained_map.PointKind
    points = (
        trained_map.MapPoint("MESH:D1", "Fever", kinds.ENTITY, "MESH:D1", (0.0, 1.0), (0.5, -1.0)),
        trained_map.MapPoint("7", "fevers", kinds.MENTION, "MESH:D1", (0.25, 1.0), (0.5, -0.75), "3"),
    )
    written = trained_map.EmbeddingMap(points, stress=0.125, nearest_before=0.5, nearest_after=1.0)
    (tmp_path / trained_map.MAP_FILE).write_text(json.dumps(written.to_json()), encoding="utf-8")
    found = embedding_map.read_map(bundle_info(path=tmp_path))
    assert (found.stress, found.nearest) == (0.125, (0.5, 1.0))
    assert [(one.key, one.label, one.group, one.before, one.after) for one in found.points] == [
        (one.key, one.label, one.group, one.before, one.after) for one in points
    ]
    assert [(one.mention, one.document) for one in found.points] == [(None, None), (7, 3)]
