"""Every file of a small bundle flipped, cut, made longer, swapped and removed in many places: none of it answers."""

import itertools
import random
import shutil
import sys

import pytest

from models.errors import ModelError
from models.linker.index_repair import load_checked, load_intact
from models.types import DocumentInput, MentionInput
from tests.models.linker.test_index_repair import damage

TEXTS = ("breast cancer", "cardiac failur", "aspirin", "Ca", "ovarian tumour")
DOCUMENTS = [DocumentInput(f"d{i}", text, (MentionInput("m", ((0, len(text)),)),)) for i, text in enumerate(TEXTS)]
PLACES = {"flip": 20, "cut": 5, "longer": 1, "swap": 2, "gone": 1}


def _answers(linker):
    return [
        [(c.entity_id, round(c.score, 3), round(c.probability, 3)) for c in one.mentions[0].candidates]
        for one in linker.link(DOCUMENTS)
    ]


@pytest.mark.soak
def test_no_damaged_file_answers(bundle, tmp_path, caplog, capsys) -> None:
    expected = _answers(load_checked(bundle.path, device="cpu"))
    names = sorted(("manifest.json", *bundle.manifest.files))
    chance = random.Random(7)
    counts = {"rebuilt": 0, "refused": 0, "as before": 0}
    for name, (harm, places) in itertools.product(names, PLACES.items()):
        for _ in range(places):
            copy = shutil.copytree(bundle.path, tmp_path / "bundles" / bundle.path.name)
            other = copy / chance.choice([one for one in names if one != name])
            damage(copy / name, harm, at=chance.random(), other=other)
            try:
                linker, repaired = load_intact(copy, device="cpu", cache=tmp_path / "cache")
            except ModelError:
                counts["refused"] += 1
            else:
                assert _answers(linker) == expected, (name, harm)
                counts["rebuilt" if repaired else "as before"] += 1
            shutil.rmtree(copy)
    with capsys.disabled():
        sys.stdout.write(f"\n{sum(counts.values())} variants of {len(names)} files: {counts}\n")
