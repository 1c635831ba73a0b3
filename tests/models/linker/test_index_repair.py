"""Damage to a bundle's files is found, and what can be computed is built again."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from models.core.file_io import sha256_file, write_json
from models.core.kb import KB_FILE
from models.encoders.encoders import load_encoder, save_encoder
from models.encoders.inputs import InputSettings
from models.errors import ModelError
from models.linker import index_repair
from models.linker.bundle import (
    MANIFEST,
    Bundle,
    EncoderRef,
    FileInfo,
    RankerSpec,
    RetrieverSpec,
    manifest_to_json,
    new_id,
    new_staging,
    open_bundle,
    publish,
    reuse,
    seal,
    seal_of,
)
from models.linker.index_repair import DamagedBundleError, damaged_files, load_checked, load_intact
from models.linker.linker import Linker
from models.linker.made_here import note_made_here
from models.linker.stages import StageLoader
from models.names.candidates import LEXICAL, NAMES
from models.names.lexical_merged import LexicalList
from models.rankers.dual_ranker import build_ranker_entities
from models.rankers.ranker import RankerSettings
from models.retrievers.biencoder import Biencoder, BiencoderSettings, build_entity_index
from models.types import DocumentInput, MentionInput
from models.vectors.index_plan import IndexKind

DOCUMENT = DocumentInput("d", "breast cancer", (MentionInput("m", ((0, 13),)),))
INDEX = "retrievers/names/names.faiss"


@pytest.fixture
def own(bundle, tmp_path) -> Bundle:
    """A copy that may be damaged."""
    shutil.copytree(bundle.path, tmp_path / bundle.path.name)
    return open_bundle(tmp_path / bundle.path.name)


def _alter(path, *, at: int = -9) -> None:
    whole = bytearray(path.read_bytes())
    whole[at] ^= 1
    path.write_bytes(whole)


def _cut(path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def damage(path: Path, harm: str, *, at: float, other: Path) -> None:
    """Harm one file, `at` the place in it from 0 to 1; `other` is what it is swapped with."""
    whole = path.read_bytes()
    place = min(len(whole) - 1, int(at * len(whole)))
    if harm == "flip":
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
    elif harm == "cut":
        path.write_bytes(whole[:place])
    elif harm == "longer":
        path.write_bytes(whole + whole[place:])
    elif harm == "gone":
        path.unlink()
    else:
        path.write_bytes(other.read_bytes())
        other.write_bytes(whole)


def _answer(linker: Linker) -> list[tuple[str, float]]:
    (answer,) = linker.link([DOCUMENT])
    return [(c.entity_id, pytest.approx(c.score, abs=1e-3)) for c in answer.mentions[0].candidates]


@pytest.mark.parametrize("harm", ["cut", "gone", "header", "lexical"])
def test_a_bundle_damaged_at_opening_is_repaired(own, tmp_path, harm, caplog) -> None:
    expected = _answer(Linker.load(own.path, device="cpu"))
    lexical = next(name for name in own.manifest.files if name.startswith("retrievers/lexical/"))
    name = {"cut": INDEX, "gone": INDEX, "header": f"{INDEX}.json", "lexical": lexical}[harm]
    if harm == "gone":
        own.file(name).unlink()
    elif harm == "header":
        own.file(name).write_text("{}")
    else:
        _cut(own.file(name))
    with pytest.raises(ModelError, match=r"damaged|missing|incomplete"):
        Linker.load(own.path, device="cpu")
    linker, damaged = load_intact(own.path, device="cpu", cache=tmp_path / "cache")
    assert damaged == (name,)
    assert _answer(linker) == expected
    assert damaged_files(open_bundle(own.path), full=True) == ()
    assert load_intact(own.path, device="cpu")[1] == ()


def test_an_altered_header_of_the_same_size_is_repaired_with_its_index(own, tmp_path, caplog) -> None:
    _alter(own.file(f"{INDEX}.json"), at=0)
    linker, damaged = load_intact(own.path, device="cpu", cache=tmp_path / "cache")
    assert damaged == (f"{INDEX}.json",)
    assert _answer(linker)


def test_a_damaged_list_of_words_is_built_again(make_bundle, tmp_path) -> None:
    bundle = make_bundle(tmp_path, stages=(LEXICAL,), lexical=LexicalList.BM25)
    before = _answer(Linker.load(bundle.path, device="cpu"))
    _cut(bundle.path / "retrievers/lexical/words/vocabulary.npy")
    linker, damaged = load_intact(bundle.path, device="cpu")
    assert damaged == ("retrievers/lexical/words/vocabulary.npy",)
    assert _answer(linker) == before
    assert not damaged_files(open_bundle(bundle.path), full=True)


def test_nothing_is_answered_before_all_hashes_agree(own, tmp_path, caplog) -> None:
    expected = _answer(load_checked(own.path, device="cpu"))
    _alter(own.file(INDEX))
    assert damaged_files(own, full=False) == ()
    with pytest.raises(DamagedBundleError, match=INDEX) as found:
        load_checked(own.path, device="cpu")
    assert found.value.damaged == (INDEX,)
    linker, damaged = load_intact(own.path, device="cpu", cache=tmp_path / "cache")
    assert (damaged, _answer(linker)) == ((INDEX,), expected)
    assert damaged_files(open_bundle(own.path), full=True) == ()


def test_no_altered_index_is_read(own, monkeypatch) -> None:
    read, names = [], StageLoader._names
    monkeypatch.setattr(StageLoader, "_names", lambda *given: read.append(NAMES) or names(*given))
    load_checked(own.path, device="cpu")
    assert read == [NAMES]
    _alter(own.file(INDEX))
    with pytest.raises(DamagedBundleError, match=INDEX):
        load_checked(own.path, device="cpu")
    assert read == [NAMES]


@pytest.mark.parametrize("name", [INDEX, KB_FILE])
def test_a_comparison_that_fails_is_no_agreement(own, name, monkeypatch) -> None:
    def fail(_bundle: Bundle, names: list[str], **_: object) -> tuple[str, ...]:
        if name in names:
            raise MemoryError
        return ()

    monkeypatch.setattr(index_repair, "_damaged_of", fail)
    with pytest.raises(MemoryError):
        load_checked(own.path, device="cpu")


def test_what_libraries_raise_on_damaged_files_is_told_as_damage(own, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise IndexError("out of bounds")

    monkeypatch.setattr(Linker, "load", fail)
    with pytest.raises(IndexError):
        load_checked(own.path, device="cpu")
    _alter(own.file(INDEX))
    with pytest.raises(DamagedBundleError, match=INDEX):
        load_checked(own.path, device="cpu")


def test_the_manifest_of_another_linker_is_refused(own) -> None:
    (own.path.parent / "bundles").mkdir()
    place = own.path.rename(own.path.parent / "bundles" / "20260101-000000-other-0000")
    with pytest.raises(ModelError, match=r"that of another linker"):
        load_intact(place, device="cpu")


def test_indexes_that_another_computer_made_are_built_again_and_never_read(own, tmp_path, monkeypatch) -> None:
    expected = _answer(load_checked(own.path, device="cpu"))
    monkeypatch.setenv("CURATOR_CACHE", str(tmp_path / "another computer"))
    header, index = own.file(f"{INDEX}.json"), own.file(INDEX)
    index.write_bytes(b"\0" * 100)  # sealed by its maker, so all hashes agree
    header.write_text(json.dumps(json.loads(header.read_text()) | {"bytes": 100}))
    files = {n: FileInfo(own.file(n).stat().st_size, sha256_file(own.file(n))) for n in own.manifest.files}
    write_json(own.path / MANIFEST, manifest_to_json(own.manifest.replace(files=files)))
    told: list[str] = []
    linker, damaged = load_intact(own.path, device="cpu", cache=tmp_path / "cache", tell=told.append)
    assert (damaged, _answer(linker)) == ((), expected)
    assert "was not made on this computer" in told[0]
    assert "100 %" in told[-1]
    told.clear()
    load_intact(own.path, device="cpu", cache=tmp_path / "cache", tell=told.append)
    assert told == []


@pytest.mark.parametrize("harm", ["flip", "cut", "longer", "swap", "gone"])
def test_a_damaged_file_never_answers(own, tmp_path, harm, caplog) -> None:
    """One file of each kind; `test_every_damage` does this to every file in many places."""
    expected = _answer(load_checked(own.path, device="cpu"))
    names = [KB_FILE, "manifest.json", INDEX, "retrievers/lexical/terms.npy"]
    wholes = {name: own.file(name).read_bytes() for name in (*own.manifest.files, "manifest.json")}
    for name in names:
        damage(own.file(name), harm, at=0.6, other=own.file("retrievers/lexical/starts.npy"))
        try:
            linker, _ = load_intact(own.path, device="cpu", cache=tmp_path / "cache")
        except ModelError as error:
            told = str(error)
        else:
            told = "damaged" if _answer(linker) == expected else "answered differently"
        assert any(word in told for word in ("damaged", "missing", "cannot be read")), (name, told)
        for restored, whole in wholes.items():
            own.file(restored).write_bytes(whole)


def test_the_kind_stays_where_the_header_still_tells(own, tmp_path) -> None:
    header = own.file(f"{INDEX}.json")
    raw = json.loads(header.read_text())
    header.write_text(json.dumps(raw | {"plan": raw["plan"] | {"kind": "sq8", "factory": "SQ8"}}))
    _cut(own.file(INDEX))
    linker, _ = load_intact(own.path, device="cpu", cache=tmp_path / "cache")
    assert linker.stages.names.stages[NAMES].index.plan.kind is IndexKind.SQ8


def test_what_cannot_be_computed_is_told_and_nothing_is_written(own) -> None:
    _cut(own.file(KB_FILE))
    _cut(own.file(INDEX))
    before = {path: path.stat().st_mtime_ns for path in own.path.rglob("*")}
    with pytest.raises(ModelError, match=r"kb\.jsonl cannot be recomputed\. Roll back"):
        load_intact(own.path, device="cpu")
    assert {path: path.stat().st_mtime_ns for path in own.path.rglob("*")} == before


def test_an_intact_bundle_that_does_not_open_keeps_its_own_sentence(own) -> None:
    (first, *others) = own.manifest.retrievers
    sealed = manifest_to_json(own.manifest.replace(retrievers=(replace(first, kind="astrology"), *others)))
    write_json(own.path / MANIFEST, sealed)
    note_made_here(seal_of(sealed))
    with pytest.raises(ModelError, match="astrology"):
        load_intact(own.path, device="cpu")


def test_trained_indexes_and_a_rankers_entities_are_built_anew(own, make_tiny_bert, tmp_path) -> None:
    staging = new_staging(own.path.parent)
    for part in (KB_FILE, "retrievers", "encoders"):
        reuse(own, part, staging)
    source = load_encoder(make_tiny_bert(tmp_path / "t", seed=5), device="cpu", max_tokens=64)
    fingerprint = save_encoder(source, staging / "encoders" / "own")
    encoder = load_encoder(staging / "encoders" / "own", device="cpu", max_tokens=64)
    ref = EncoderRef("bundle", fingerprint, "encoders/own")
    kb, kb_hash = Linker.load(own.path, device="cpu").stages.kb, own.manifest.kb_hash
    towers = Biencoder(encoder, encoder, BiencoderSettings(inputs=InputSettings(32, 32)))
    list(build_entity_index(towers, kb, staging / "retrievers" / "own", kb_hash=kb_hash))
    ranking = RankerSettings(InputSettings(32, 32))
    list(build_ranker_entities(encoder, kb, staging / "ranker", settings=ranking, kb_hash=kb_hash))
    spec = RetrieverSpec("own", "biencoder", "retrievers/own", (ref, ref), towers.settings.to_json())
    manifest = own.manifest.replace(
        id=new_id("own"),
        retrievers=(*own.manifest.retrievers, spec),
        ranker=RankerSpec("again", "dual", "ranker", (ref, ref), 3, ranking.to_json()),
    )
    trained = publish(seal(staging, manifest, known=own).path)
    expected = _answer(Linker.load(trained.path, device="cpu"))
    _cut(trained.file("retrievers/own/entities.faiss"))
    _cut(trained.file("ranker/entities.npy"))
    linker, damaged = load_intact(trained.path, device="cpu", cache=tmp_path / "cache")
    assert set(damaged) == {"retrievers/own/entities.faiss", "ranker/entities.npy"}
    assert _answer(linker) == expected
    assert damaged_files(open_bundle(trained.path), full=True) == ()
