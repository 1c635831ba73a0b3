import dataclasses
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from models.core.kb import KB_FILE
from models.encoders.encoders import Encoder, load_encoder
from models.errors import ModelError
from models.linker.bundle import (
    MANIFEST,
    Bundle,
    RankerSpec,
    RetrieverSpec,
    discard_staging,
    list_bundles,
    manifest_from_json,
    manifest_to_json,
    new_id,
    new_staging,
    open_bundle,
    publish,
    reuse,
    seal,
    seal_at,
    seal_of,
    store_encoder,
)
from models.types import EntityRecord


@pytest.fixture
def fresh(make_bundle, tmp_path):
    return make_bundle(tmp_path / "project", stages=("lexical",))


def test_a_published_bundle_opens_and_is_listed(fresh) -> None:
    assert open_bundle(fresh.path, verify="full").manifest == fresh.manifest
    assert fresh.path.name == fresh.manifest.id
    assert [m.id for m in list_bundles(fresh.path.parent)] == [fresh.manifest.id]
    assert not list(fresh.path.parent.glob(".staging-*"))


def test_manifest_round_trip(fresh) -> None:
    full = fresh.manifest.replace(ranker=RankerSpec("r", "dual", "ranker"), seeds=(1, 2), metrics={"a": {"b": 1.5}})
    raw = json.loads(json.dumps(manifest_to_json(full)))
    assert manifest_from_json(raw, where=fresh.path) == full


def test_an_unsealed_staging_folder_is_no_bundle(fresh) -> None:
    staging = new_staging(fresh.path.parent)
    reuse(fresh, KB_FILE, staging)
    with pytest.raises(ModelError, match=r"manifest: .*manifest\.json is missing"):
        publish(staging)
    assert [m.id for m in list_bundles(staging.parent)] == [fresh.manifest.id]
    discard_staging(staging)
    assert not staging.exists()
    discard_staging(fresh.path)
    assert fresh.path.exists()


def test_files_are_shared_by_hard_link(fresh) -> None:
    staging = new_staging(fresh.path.parent)
    reuse(fresh, KB_FILE, staging)
    reuse(fresh, "retrievers/lexical", staging)
    manifest = fresh.manifest.replace(id=new_id("second"), parent=fresh.manifest.id)
    second = publish(seal(staging, manifest, known=fresh).path)
    assert second.file(KB_FILE).samefile(fresh.file(KB_FILE))
    assert second.manifest.files == fresh.manifest.files


def test_nothing_is_written_into_a_shared_file(make_bundle, tmp_path) -> None:
    """Whichever comes first, the sharing of an encoder or the writing of one under the same name."""
    made = make_bundle(tmp_path / "project")
    given = made.manifest.retriever("names").encoders[0]
    source = Bundle(new_staging(tmp_path / "bundles"), made.manifest)
    encoder = load_encoder(made.encoder_folder(given), device="cpu", max_tokens=64)
    ref = store_encoder(encoder, source.path)
    before = {path: path.read_bytes() for path in source.path.rglob("*") if path.is_file()}
    for shared_first in (True, False):
        staging = new_staging(tmp_path / "bundles")
        for step in (True, False):
            if step is shared_first:
                reuse(source, ref.path, staging)
            else:
                assert store_encoder(encoder, staging) == ref, "named by its content"
        (moved,) = (staging / ref.path).parent.iterdir()
        assert moved.name == Path(ref.path).name
    with torch.no_grad():
        for parameter in encoder.module.parameters():
            parameter.add_(0.1)
    reuse(source, ref.path, staging)
    other = store_encoder(encoder, staging)
    assert other.path != ref.path
    assert load_encoder(staging / other.path, device="cpu").fingerprint == other.fingerprint
    longer = store_encoder(replace(encoder, max_tokens=ref.max_tokens // 2), staging)
    assert longer.path != other.path, "a folder says how long a text may be, too"
    assert {path: path.read_bytes() for path in source.path.rglob("*") if path.is_file()} == before


def test_damage_is_told_by_size_and_by_hash(fresh) -> None:
    kb = fresh.file(KB_FILE)
    whole = kb.read_bytes()
    kb.write_bytes(whole[:-1])
    with pytest.raises(ModelError, match=r"has \d+ bytes"):
        open_bundle(fresh.path)
    kb.write_bytes(whole[:-2] + b"!\n")
    open_bundle(fresh.path)
    with pytest.raises(ModelError, match="was modified"):
        open_bundle(fresh.path, verify="full")
    kb.unlink()
    with pytest.raises(ModelError, match="is missing"):
        open_bundle(fresh.path)


BROKEN = ("", "[]", '{"format_version": 99}', '{"format_version": 1}', "{", "[" * 1_000_000)
OTHER = ('{"format_version": 1, "id": {}}', '{"format_version": 1, "retrievers": [{"name": "n"}]}')


@pytest.mark.parametrize("text", [*BROKEN, *OTHER], ids=lambda text: text[:60])
def test_a_broken_or_newer_manifest_is_refused(fresh, text) -> None:
    (fresh.path / MANIFEST).write_text(text)
    with pytest.raises(ModelError, match="Roll back"):
        open_bundle(fresh.path)
    assert list_bundles(fresh.path.parent) == []


def test_a_manifest_that_names_a_place_outside_is_refused(fresh) -> None:
    def named(what: str, place: str) -> str:
        raw = json.loads(json.dumps(manifest_to_json(fresh.manifest)))
        ref = {"source": "bundle", "fingerprint": "0", "path": place if what == "encoder" else "encoder"}
        spec = {"name": "n", "kind": "names", "folder": place if what == "folder" else "names", "encoders": [ref]}
        raw["retrievers"].append(spec)
        raw["ranker"] = {**spec, "folder": place if what == "ranker" else "ranker"}
        raw["files"][place if what == "file" else "file"] = {"size": 0, "sha256": ""}
        raw["id"] = place if what == "id" else raw["id"]
        return json.dumps(raw | {"seal": seal_of(raw)})

    for what in ("folder", "encoder", "ranker", "file", "id"):
        for place in (
            "../../elsewhere",
            "/etc",
            "a/../../b",
            r"..\b",
            r"C:\b",
            "C:b",
            r"\\host\share\b",
            "",
            "x" * 300,
            "\ud800",
        ):
            (fresh.path / MANIFEST).write_text(named(what, place))
            with pytest.raises(ModelError, match="outside of its folder"):
                open_bundle(fresh.path)
            assert list_bundles(fresh.path.parent) == []
        assert manifest_from_json(json.loads(named(what, "inside")), where=fresh.path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"kb_entities": 6', '"kb_entities": 7'),
        ('"nil"', '"mil"'),
        ('"seal"', '"sea1"'),
        ('"seeds": []', '"seeds": [1]'),
    ],
)
def test_a_changed_value_of_a_manifest_is_noticed(fresh, old: str, new: str) -> None:
    text = (fresh.path / MANIFEST).read_text(encoding="utf-8")
    assert old in text
    (fresh.path / MANIFEST).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ModelError, match=r"damaged.*Roll back"):
        open_bundle(fresh.path)


def test_a_manifest_of_an_earlier_version_has_no_seal(fresh) -> None:
    raw = json.loads((fresh.path / MANIFEST).read_text(encoding="utf-8"))
    sealed = raw.pop("seal")
    (fresh.path / MANIFEST).write_text(json.dumps(raw), encoding="utf-8")
    assert open_bundle(fresh.path).manifest == fresh.manifest
    assert seal_at(fresh.path) == sealed


@pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_links_in_a_bundle_are_refused(make_bundle, tmp_path, kind: str) -> None:
    bundle = make_bundle(tmp_path / "project", stages=("lexical", "names"))
    place = bundle.path / ("kb.jsonl" if kind == "file" else bundle.manifest.retrievers[-1].folder)
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ModelError, match="is a link"):
        open_bundle(bundle.path)


def test_a_missing_bundle_is_told(tmp_path) -> None:
    with pytest.raises(ModelError, match=r"The linker .*nothing was not found"):
        open_bundle(tmp_path / "nothing")


def test_an_id_is_never_published_twice(fresh) -> None:
    staging = new_staging(fresh.path.parent)
    reuse(fresh, KB_FILE, staging)
    seal(staging, fresh.manifest)
    with pytest.raises(ModelError, match="already"):
        publish(staging)


def test_specs_find_retrievers_by_name(fresh) -> None:
    spec = fresh.manifest.retriever("lexical")
    assert isinstance(spec, RetrieverSpec)
    assert fresh.manifest.retriever("none") is None


def test_an_updated_knowledge_base_encodes_its_new_names_only(make_bundle, tmp_path, monkeypatch) -> None:
    first = EntityRecord("D1", "Migraine", ("headache of one side",), ("Disease",))
    make_bundle(tmp_path, (first, EntityRecord("D2", "Pain", ("ache",), ("Disease",))))
    encoded: list[str] = []
    encode = Encoder.encode

    def counting(self, texts, **options):
        encoded.extend(texts)
        return encode(self, texts, **options)

    monkeypatch.setattr(Encoder, "encode", counting)
    renamed = dataclasses.replace(first, synonyms=("headache of one side", "hemicrania"))
    updated = make_bundle(tmp_path, (renamed, EntityRecord("D3", "Chronic Pain", ("ache",), ("Disease",))))
    assert sorted(encoded) == ["Chronic Pain", "hemicrania"]
    assert updated.manifest.kb_names == 5
