"""The names' encoder retrained by a job: what is learnt from, what the bundle holds, and what is refused."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from models.errors import ModelError
from models.linker.build import build_untrained
from models.linker.bundle import Bundle, EncoderRef, new_staging, open_bundle, publish, reuse, seal
from models.linker.linker import Linker
from models.names.names import NamesRetriever
from models.types import DocumentInput, MentionInput
from tests.training.conftest import MakeSpec, document_lines, entities
from training.data.progress import Event, Phase
from training.job.fitting import has_trained_stage
from training.job.gate import GateOutcome, GateResult, judge
from training.job.job import FITTED_ON, run_training
from training.job.names_learning import Strings, recall
from training.job.preparation import Loaded
from training.tasks.names_task import NamesTask

DOCUMENTS = [*document_lines("train", 40, seed=1), *document_lines("validation", 10, seed=2)]
ODD = [{**line, "text": line["text"].replace(" of the ", " by the ")} for line in DOCUMENTS]
"""As if curators had met “failure by the heart”: no name of the knowledge base equals it."""


def wanted(make_spec: MakeSpec, recipe: str = "names", **changes: Any) -> dict[str, Any]:
    spec = make_spec(recipe, **{"lines": ODD, **changes})
    return spec | {"parameters": {"epochs": 2, "learning_rate": 1e-3}}


def run(spec: Mapping[str, Any]) -> tuple[list[Event], dict[str, Any]]:
    events = list(run_training(spec))
    return events, events[-1].data["result"]


@pytest.mark.soak
def test_the_encoder_is_replaced_everything_else_is_shared_and_it_serves(
    make_spec: MakeSpec, base_bundle: Bundle, tmp_path: Path
) -> None:
    spec = wanted(make_spec) | {"cache": str(tmp_path / "cache"), "keeps_part": True}
    events, result = run(spec)
    assert len(list((tmp_path / "cache/states").glob("*.states"))) == 1, "the next training encodes in half the time"
    assert {Phase.ENCODE, Phase.TRAIN, Phase.REFIT} <= {event.phase for event in events}
    bundle = open_bundle(spec["staging"], verify="full")
    assert replaced(bundle, base_bundle) == "names"
    shared = [name for name in bundle.manifest.files if name.startswith(("kb", "retrievers/lexical"))]
    assert shared
    assert all((bundle.path / name).samefile(base_bundle.path / name) for name in shared)
    assert len(list((bundle.path / "encoders").iterdir())) == 1, "the encoder that was replaced is left behind"
    assert len(bundle.manifest.training[FITTED_ON]) == len(ODD)
    assert result["metrics"]["alone"]["before_at_k"] > 0
    assert "without" in result["metrics"]
    assert any("linked strings that match no name" in text for text in bundle.manifest.training["notes"])

    linker = Linker.load(publish(Path(spec["staging"])).path, device="cpu")
    [answer] = linker.link([DocumentInput("d", "heart failure", (MentionInput("m", ((0, 13),), ()),))])
    assert answer.mentions[0].candidates[0].name == "heart failure"
    assert has_trained_stage(linker)
    assert not has_trained_stage(Linker.load(base_bundle.path, device="cpu"))


@pytest.mark.parametrize(
    "recipe",
    [
        "names-proxy",
        *(pytest.param(f"names-{one}", marks=pytest.mark.soak) for one in ("mixup", "prototype", "multi-similarity")),
    ],
)
def test_each_loss_trains_it(make_spec: MakeSpec, base_bundle: Bundle, recipe: str) -> None:
    spec = wanted(make_spec, recipe, lines=[*ODD[:10], *ODD[-3:]])
    _, result = run(spec)
    assert replaced(open_bundle(spec["staging"], verify="full"), base_bundle) == recipe
    assert "without" not in result["metrics"], "too few to refit anything"


def test_the_full_variant_trains_all_layers_and_pairs_of_synonyms(
    make_spec: MakeSpec, base_bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks: list[NamesTask] = []

    class Kept(NamesTask):
        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(*given, **options)
            tasks.append(self)

    monkeypatch.setattr("training.job.names_learning.NamesTask", Kept)
    monkeypatch.setattr("training.job.names_learning.LEAST_ALIKE", -1.0)  # the tiny encoder's cosines mean nothing
    work = run_training(wanted(make_spec, "names-full", lines=[*ODD[:10], *ODD[-3:]]))
    notes = [event.text for event in takewhile(lambda event: event.phase is not Phase.TRAIN, work)]
    work.close()  # type: ignore[attr-defined]
    [task] = tasks
    kb, kinship = Linker.load(base_bundle.path, device="cpu").stages.kb, task.kinship
    decided = [one for one in task.mentions if len(one.positives) > 1]
    pairs = [one for one in task.mentions if len(one.positives) == 1]
    assert len(pairs) == round(0.3 * len(decided)) > 1
    assert any(f"{len(pairs)} pairs of synonyms" in text for text in notes)
    assert len({one.cluster for one in pairs} | {one.cluster for one in decided}) > len(pairs)
    assert not {one.cluster for one in pairs} & {one.cluster for one in decided}
    for pair in pairs:
        assert kb.name_entity[pair.positives[0]] == pair.gold[0]
        assert not {int(kb.name_entity[row]) for row in pair.negatives} & kinship.of(pair.gold)
    learning = {name for name, value in task.module.named_parameters() if value.requires_grad}
    assert all(any(f"layer.{number}." in name for name in learning) for number in range(len(list(task.module.layers))))
    assert not any("embeddings" in name for name in learning)


def test_where_training_is_no_gain_the_other_weights_alone_may_be_one(
    make_spec: MakeSpec, base_bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judged(*given: Any) -> GateResult:
        found = judge(*given)
        trained = len(given) > 3
        return replace(found, verdict=GateOutcome.NO_GAIN if trained else GateOutcome.PROMOTE)

    monkeypatch.setattr("training.job.job.judge", judged)
    monkeypatch.setattr("training.job.job.MIN_COMBINER", 20)
    spec = wanted(make_spec, lines=[*ODD[:10], *ODD[-3:]])
    _, result = run(spec)
    bundle = open_bundle(spec["staging"], verify="full")
    assert result["verdict"] == "promote"
    assert "“names” is left out" in result["message"]
    assert bundle.manifest.training["gate"]["message"] == result["message"]
    assert bundle.manifest.retriever("names") == base_bundle.manifest.retriever("names")
    assert bundle.manifest.files.keys() == base_bundle.manifest.files.keys(), "nothing of the training is left behind"
    assert len(bundle.manifest.training[FITTED_ON]) == 13
    assert "alone" not in bundle.manifest.metrics


def replaced(bundle: Bundle, base: Bundle) -> str:
    """The recipe that replaced the base's encoder of names."""
    old, new = base.manifest.retriever("names"), bundle.manifest.retriever("names")
    assert old is not None
    assert new is not None
    assert new.encoders[0].fingerprint != old.encoders[0].fingerprint
    assert new.settings == {**old.settings, "trained": new.settings["trained"]}
    return str(new.settings["trained"])


@pytest.mark.soak
def test_what_taught_the_encoder_fits_no_weights_afterwards(make_spec: MakeSpec) -> None:
    first = wanted(make_spec) | {"keeps_part": True}
    run(first)
    base = str(publish(Path(first["staging"])).path)
    later = [{**line, "key": f"later-{line['key']}"} for line in document_lines("validation", 40, seed=5)]
    for line in later:
        line["mentions"] = [{**one, "key": f"later{one['key']}"} for one in line["mentions"]]
    again = wanted(make_spec, "names-proxy", base=base, lines=[*ODD, *later])
    run(again)
    facts = open_bundle(again["staging"]).manifest.training
    assert not any(key.startswith("train") for key in facts[FITTED_ON])


def test_before_training_the_index_says_what_the_encoder_would(base_bundle: Bundle) -> None:
    linker = Linker.load(base_bundle.path, device="cpu")
    kb, stage = linker.stages.kb, linker.stages.names.stages["names"]
    assert isinstance(stage, NamesRetriever)
    texts = [name.replace(" of the ", " by the ") for name in kb.names[:40]]
    _, near = stage.search(stage.encode(texts), 8, ranges=kb.name_ranges(()))
    strings = Strings(texts, [(int(kb.name_entity[n]),) for n in range(len(texts))], near.tolist())
    loaded = cast(Loaded, SimpleNamespace(kb=kb))
    by_index = recall(strings, loaded, stage.encode, stage.index.vectors)
    by_encoder = recall(
        strings, loaded, stage.encoder.encode, lambda rows: stage.encoder.encode([kb.names[row] for row in rows])
    )
    assert by_index == by_encoder
    assert 0 < by_index[0] < 1


def test_strings_that_are_names_already_teach_nothing(make_spec: MakeSpec) -> None:
    with pytest.raises(ModelError, match=r"only 0 strings linked in .* at least 10 are needed"):
        run(wanted(make_spec, lines=DOCUMENTS))


def test_decisions_all_of_one_string_teach_nothing(make_spec: MakeSpec) -> None:
    text = "A failing heart. " * 30
    spans = [[[17 * n + 2, 17 * n + 15]] for n in range(30)]
    gold = {"ids": ["X:0"], "nil": False}
    lines = [
        {
            "key": f"train-{number}",
            "split": "train",
            "text": text,
            "mentions": [
                {"key": f"{number}.{n}", "spans": span, "types": ["Chemical"], "gold": gold, "shown": []}
                for n, span in enumerate(spans)
            ],
        }
        for number in range(3)
    ]
    with pytest.raises(ModelError, match=r"only 1 string linked in"):
        run(wanted(make_spec, lines=lines))


def test_a_linker_without_vectors_of_names_is_refused(make_spec: MakeSpec, tmp_path: Path, base_bundle: Bundle) -> None:
    (tmp_path / "kb.jsonl").write_text("".join(json.dumps(one) + "\n" for one in entities()))
    staging = new_staging(tmp_path / "lexical")
    for _ in build_untrained(tmp_path / "kb.jsonl", staging, stages=("lexical",), device="cpu"):
        pass
    with pytest.raises(ModelError, match="vectors of names, which the linker in use does not have yet"):
        run(wanted(make_spec, base=str(publish(staging).path)))
    assert base_bundle


def test_twenty_decisions_train_and_are_judged(make_spec: MakeSpec, base_bundle: Bundle) -> None:
    """As few as may be: the weights are not refitted, and the gate says what it found."""
    met: set[str] = set()
    lines: list[dict[str, Any]] = []
    for line in ODD[:40]:
        odd = {text_of(line, one): one for one in line["mentions"] if " by the " in text_of(line, one)}
        new = [text for text in odd if text not in met][: 20 - len(met)]
        met.update(new)
        lines += [{**line, "mentions": [odd[text] for text in new]}] if new else []
    assert len(met) == 20
    spec = wanted(make_spec, lines=[*lines, *ODD[-3:]])
    before = files_of(base_bundle)
    _, result = run(spec)
    assert result["verdict"] in ("promote", "no_gain", "refused")
    assert result["message"]
    assert "without" not in result["metrics"]
    assert files_of(base_bundle) == before


def test_another_part_that_reads_the_same_encoder_keeps_it(make_spec: MakeSpec, base_bundle: Bundle) -> None:
    """The base's encoder is shared with the new bundle then, under whatever name it has there: also one that is made of
    recipe, seed and number of files, as an earlier training of names gave it."""
    first = make_spec("pel-pb", parameters={"entity_tower": "frozen"})
    list(run_training(first))
    trained = open_bundle(first["staging"])
    old = trained.manifest.retrievers[-1].encoders[1]
    named = replace(old, path=f"encoders/names-names-3-{len(trained.manifest.files)}")
    staging = new_staging(Path(first["staging"]).parent)
    for relative in trained.manifest.files:
        reuse(trained, relative, staging)
    (staging / old.path).rename(staging / named.path)
    specs = [
        replace(one, encoders=tuple(named if ref == old else ref for ref in one.encoders))
        for one in trained.manifest.retrievers
    ]
    seal(staging, trained.manifest.replace(id="other", retrievers=tuple(specs)))
    base = publish(staging)
    before = files_of(base)
    spec = wanted(make_spec, lines=[*ODD[:10], *ODD[-3:]], base=str(base.path)) | {"keeps_part": True, "seed": 3}
    run(spec)
    assert files_of(base) == before
    made = open_bundle(spec["staging"], verify="full")
    assert replaced(made, base) == "names"
    assert made.manifest.retriever("pel-pb") == base.manifest.retriever("pel-pb")
    assert (made.path / named.path / "model.safetensors").samefile(base.path / named.path / "model.safetensors")


def text_of(line: Mapping[str, Any], mention: Mapping[str, Any]) -> str:
    [[start, stop]] = mention["spans"]
    return str(line["text"][start:stop])


def files_of(bundle: Bundle) -> dict[Path, bytes]:
    return {one: one.read_bytes() for one in bundle.path.rglob("*") if one.is_file()}


def contrary() -> list[dict[str, Any]]:
    """Every second mention links to another entity than its string says, so that strings contradict themselves."""
    lines = [{**line, "mentions": [dict(one) for one in line["mentions"]]} for line in [*ODD[:10], *ODD[-3:]]]
    linked = [one for line in lines for one in line["mentions"] if not one["gold"]["nil"]]
    for mention in linked[::2]:
        mention["gold"] = {"ids": ["X:7"], "nil": False}
    return lines


@pytest.mark.soak
def test_decisions_that_contradict_each_other_are_learnt_from_and_judged(make_spec: MakeSpec) -> None:
    spec = wanted(make_spec, lines=contrary())
    _, result = run(spec)
    assert result["verdict"] in ("promote", "no_gain", "refused")
    assert open_bundle(spec["staging"], verify="full")


@pytest.mark.soak
@pytest.mark.parametrize("recipe", ["names", "names-full"])
@pytest.mark.parametrize("script", ["one name an entity", "Chinese"])
def test_knowledge_bases_of_another_kind(
    make_spec: MakeSpec, tmp_path: Path, tiny_encoder: Path, script: str, recipe: str
) -> None:
    """One name for each entity, thus no synonyms, and names of which the encoder knows no letter: all the same it
    trains and is judged."""
    known = [{**one, "synonyms": []} for one in entities()]
    if script == "Chinese":
        known = [{**one, "name": f"疾病{number}型"} for number, one in enumerate(known)]
    (tmp_path / "kb.jsonl").write_text("".join(json.dumps(one) + "\n" for one in known), encoding="utf-8")
    staging = new_staging(tmp_path / "other")
    for _ in build_untrained(tmp_path / "kb.jsonl", staging, encoder=tiny_encoder, device="cpu"):
        pass
    base = publish(staging)
    spec = wanted(make_spec, recipe, lines=[*ODD[:10], *ODD[-3:]], base=str(base.path))
    index = Path(spec["snapshot"]) / "snapshot.json"
    index.write_text(json.dumps(json.loads(index.read_text()) | {"kb_hash": base.manifest.kb_hash}))
    events, result = run(spec)
    assert result["verdict"] in ("promote", "no_gain", "refused")
    assert any("learns from 0 pairs" in event.text for event in events) == (recipe == "names-full")
    assert replaced(open_bundle(spec["staging"], verify="full"), base) == recipe


@pytest.mark.parametrize("written", ["models.linker.bundle.save_encoder", "models.linker.build.VectorIndex.save"])
def test_a_full_disk_leaves_no_bundle_and_the_base_as_it_was(
    make_spec: MakeSpec, base_bundle: Bundle, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    before = files_of(base_bundle)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    spec = wanted(make_spec, lines=[*ODD[:10], *ODD[-3:]])
    monkeypatch.setattr(written, full)
    with pytest.raises(OSError, match="No space left"):
        run(spec)
    with pytest.raises(ModelError, match="manifest"):
        open_bundle(spec["staging"])
    assert files_of(base_bundle) == before


def test_the_encoder_of_another_linker_is_refused(
    make_spec: MakeSpec, base_bundle: Bundle, tiny_encoder: Path, tmp_path: Path
) -> None:
    names = base_bundle.manifest.retriever("names")
    assert names is not None
    other = replace(names, encoders=(EncoderRef("bundle", "of another", names.encoders[0].path, 64),))
    staging = new_staging(tmp_path / "other")
    for relative in base_bundle.manifest.files:
        reuse(base_bundle, relative, staging)
    kept = [one for one in base_bundle.manifest.retrievers if one.name != "names"]
    seal(staging, base_bundle.manifest.replace(id="other", retrievers=(*kept, other)))
    spec = wanted(make_spec, lines=[*ODD[:10], *ODD[-3:]], base=str(publish(staging).path))
    with pytest.raises(ModelError, match=r"The encoder .* is not the one that the linker .* uses"):
        run(spec)
    with pytest.raises(ModelError, match="manifest"):
        open_bundle(spec["staging"])


def test_more_names_than_the_time_allows_are_refused_before_training(
    make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.job.names_learning.SECONDS_A_NAME", 3_000_000 * 0.0018)  # as if there were so many
    spec = wanted(make_spec, lines=[*ODD[:10], *ODD[-3:]]) | {"max_minutes": 10.0}
    with pytest.raises(ModelError, match=r"encoding \d+ names takes about \d+\.\d minutes, but only 10\.0 are left"):
        run(spec)
    with pytest.raises(ModelError, match="manifest"):
        open_bundle(spec["staging"])


@pytest.mark.parametrize("recipe", ["names", "names-full"])
def test_a_cancel_while_names_are_encoded_leaves_no_bundle(
    make_spec: MakeSpec, base_bundle: Bundle, recipe: str
) -> None:
    spec, before = wanted(make_spec, recipe, lines=[*ODD[:10], *ODD[-3:]]), files_of(base_bundle)
    work: Iterator[Event] = run_training(spec)
    while next(work).phase is not Phase.ENCODE:
        pass
    work.close()  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match="manifest"):
        open_bundle(spec["staging"])
    assert files_of(base_bundle) == before
