from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models.errors import ModelError
from models.linker.build import build_untrained
from models.linker.bundle import Bundle, new_id, new_staging, publish, reuse, seal
from models.names.lexical_merged import LexicalList
from tests.training.conftest import document_lines, write_lines
from training.data.progress import Phase
from training.job.evaluate_job import run_evaluation, run_replay


def spec(tmp_path: Path, base: Bundle, *, split: str = "test", **changes: Any) -> dict[str, Any]:
    lines = [*document_lines("train", 3, seed=1), *document_lines("test", 3, seed=2)]
    folder = write_lines(tmp_path / "snapshot", lines, kb_hash=changes.pop("kb_hash", base.manifest.kb_hash))
    return {"snapshot": str(folder), "bundle": str(base.path), "split": split, "k": 8, "device": "cpu"} | changes


def test_figures_of_a_split(tmp_path: Path, base_bundle: Bundle) -> None:
    events = list(run_evaluation(spec(tmp_path, base_bundle, memory=False)))
    assert [event.phase for event in events[-2:]] == [Phase.EVALUATE, Phase.DONE]
    assert [(event.done, event.total) for event in events if event.phase is Phase.EVALUATE and event.total][-1] == (
        3,
        3,
    )
    result = events[-1].data["result"]
    assert (result["mentions"], result["nil_mentions"], result["k"]) == (18, 3, 8)
    assert result["recall"]["1"] > 0.9
    assert result["bundle"] == base_bundle.manifest.id
    assert {"seen surface", "unseen surface"} <= set(result["slices"])
    assert "recall@1" in result["message"]
    wrong = len(result["errors"]["rows"])
    assert wrong == sum(result["errors"]["kinds"].values()) == round(18 * (1 - result["accuracy"]))


def result_of(spec_: dict[str, Any]) -> dict[str, Any]:
    *_, last = run_evaluation(spec_)
    return dict(last.data["result"])


def test_figures_of_what_was_learnt_from_say_so(tmp_path: Path, base_bundle: Bundle) -> None:
    keys = [line["key"] for line in document_lines("train", 2, seed=1)]
    staging = new_staging(tmp_path / "bundles")
    for relative in base_bundle.manifest.files:
        reuse(base_bundle, relative, staging)
    facts = {"fitted_on": keys, "documents": {"train": keys[:1], "held_out": []}}
    seal(staging, base_bundle.manifest.replace(id=new_id("weighed"), training=facts), known=base_bundle)
    weighed = publish(staging)
    train = result_of(spec(tmp_path, weighed, split="train"))
    assert train["learnt_here"] == 2
    assert "This linker was trained on 2 of these documents" in train["message"]
    test = result_of(spec(tmp_path, weighed))
    assert test["learnt_here"] == 0
    assert "better than they are" not in test["message"]


def test_intervals_slices_and_the_report(tmp_path: Path, base_bundle: Bundle) -> None:
    asked = spec(tmp_path, base_bundle, resamples=50, seed=4)
    result = result_of(asked)
    figures = result["figures"]
    assert figures["recall@1"]["value"] == result["recall"]["1"]
    assert figures["NIL F1"]["value"] == result["nil"]["f1"]
    assert {"seen entity", "exact match", "same name", "type: Disease"} <= set(result["slices"])
    assert len(result["slices"]["single"]["intervals"]["recall@1"]) == 2
    assert (result["documents"], result["kb_hash"]) == (3, base_bundle.manifest.kb_hash)
    assert result["html"].startswith("<!DOCTYPE html>")
    plain = json.loads(json.dumps({name: one for name, one in result.items() if name not in ("html", "made")}))
    again = result_of(asked)
    assert plain == json.loads(json.dumps({name: again[name] for name in plain})), "the same seed, the same intervals"


def test_without_types_and_against_itself(tmp_path: Path, base_bundle: Bundle) -> None:
    asked = spec(tmp_path, base_bundle, against=str(base_bundle.path), whole_kb=True, resamples=20)
    events = list(run_evaluation(asked))
    steps = [(event.done, event.total) for event in events if event.phase is Phase.EVALUATE and event.total]
    assert steps == [(done, 9) for done in range(1, 10)], "three documents, three times"
    result = events[-1].data["result"]
    assert set(result["whole_kb"]) <= set(result["figures"])
    against = result["against"]
    assert against["bundle"] == base_bundle.manifest.id
    assert against["flips"] == []
    assert against["decisions"] == {"only_this": 0, "only_other": 0, "p_value": 1.0}
    assert against["figures"]["recall@1"]["difference"]["value"] == 0.0


def test_flips_name_their_document(tmp_path: Path, base_bundle: Bundle, tiny_encoder: Path) -> None:
    """The same names under other numbers: every link flips."""
    asked = spec(tmp_path, base_bundle, resamples=20)
    kb = tmp_path / "other.jsonl"
    own = [json.loads(line) for line in (base_bundle.path / "kb.jsonl").read_text(encoding="utf-8").splitlines()]
    names = [one["name"] for one in own]
    turned = [{**one, "name": name, "synonyms": []} for one, name in zip(own, [*names[1:], names[0]], strict=True)]
    kb.write_text("".join(json.dumps(one) + "\n" for one in turned), encoding="utf-8")
    staging = new_staging(tmp_path / "others")
    for _ in build_untrained(
        kb, staging, encoder=tiny_encoder, stages=("lexical",), cache=tmp_path / "c", device="cpu"
    ):
        pass
    other = publish(staging)
    with pytest.raises(ModelError, match="another knowledge base"):
        list(run_evaluation({**asked, "against": str(other.path)}))
    lines = [{**line, "name": f"PMID {line['key']}"} for line in document_lines("test", 3, seed=2)]
    folder = write_lines(tmp_path / "unbound", lines, kb_hash="")
    result = result_of({**asked, "snapshot": str(folder), "against": str(other.path)})
    lost = [one for one in result["against"]["flips"] if one["direction"] == "wrong_to_right"]
    assert lost
    assert {one["document_name"] for one in lost} <= {f"PMID test-{n}" for n in range(3)}
    assert all(one in result["against"]["names"] for flip in lost for one in flip["gold"])
    assert result["against"]["decisions"]["only_this"] == len(lost)


@pytest.mark.parametrize("kind", [LexicalList.MERGED, LexicalList.BM25])
def test_a_linker_that_finds_by_words_is_evaluated_as_any(
    tmp_path: Path, base_bundle: Bundle, kind: LexicalList
) -> None:
    kb, staging = base_bundle.path / "kb.jsonl", new_staging(tmp_path / "others")
    steps = build_untrained(kb, staging, stages=("lexical",), lexical=kind, cache=tmp_path / "c", device="cpu")
    assert len(list(steps)) > 2
    result = result_of(spec(tmp_path, publish(staging), resamples=10))
    assert result["recall"]["8"] > 0.6
    assert sum("by words" in sentence for sentence in result["linker"]) == 1


def test_a_replay_of_one_split_and_then_another(tmp_path: Path, base_bundle: Bundle) -> None:
    *steps, last = run_replay(spec(tmp_path, base_bundle, split="train", then="test", memory=False))
    result = last.data["result"]
    assert result["replay"]["remembers"] is False
    assert (result["split"], result["then"]) == ("train", "test")
    assert (result["replay"]["documents"], result["replay"]["decisions"]) == (6, 36)
    assert result["replay"]["starts"] == {"train": 0, "test": 18}
    assert result["replay"]["every"]["recall_at_1"] > 0.9
    assert [event.done for event in steps if event.phase is Phase.EVALUATE] == [1, 2, 3, 4, 5, 6]
    assert result["html"].startswith("<!DOCTYPE html>")
    *_, last = run_replay(spec(tmp_path, base_bundle, split="train", limit=8))
    assert last.data["result"]["replay"]["decisions"] == 8
    with pytest.raises(ModelError, match=r"No mention .* validation is decided"):
        list(run_replay(spec(tmp_path, base_bundle, split="train", then="validation")))


def test_train_decisions_are_remembered_unless_train_is_evaluated(tmp_path: Path, base_bundle: Bundle) -> None:
    asked = spec(tmp_path, base_bundle, resamples=10)
    assert result_of(asked)["memory"] == {"used": True, "decisions": 18}
    assert result_of({**asked, "memory": False})["memory"] == {"used": False, "decisions": 0}
    assert result_of({**asked, "split": "train"})["memory"] == {"used": False, "decisions": 0}


def test_a_replay_learns_what_a_document_decided(tmp_path: Path, base_bundle: Bundle) -> None:
    """Every document links the same two words, which no name resembles, to the same entity."""
    gold = {"ids": ["X:30"], "nil": False}
    lines = [
        {
            "key": f"r{number}",
            "split": "train",
            "text": "beta gamma",
            "mentions": [{"key": f"m{number}", "spans": [[0, 10]], "types": [], "gold": gold, "shown": []}],
        }
        for number in range(6)
    ]
    folder = write_lines(tmp_path / "repeated", lines, kb_hash=base_bundle.manifest.kb_hash)
    asked = {**spec(tmp_path, base_bundle, split="train"), "snapshot": str(folder)}
    *_, last = run_replay(asked)
    replay = last.data["result"]["replay"]
    assert replay["remembers"] is True
    assert replay["every"]["recall_at_1"] >= 5 / 6, "all but perhaps the first"
    *_, last = run_replay({**asked, "memory": False})
    assert last.data["result"]["replay"]["every"]["recall_at_1"] == 0.0


def test_train_itself_has_no_seen_slices(tmp_path: Path, base_bundle: Bundle) -> None:
    *_, last = run_evaluation(spec(tmp_path, base_bundle, split="train"))
    assert "seen surface" not in last.data["result"]["slices"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"split": "validation"}, "No mention .* validation is decided"),
        ({"split": "dev"}, "Unknown split 'dev'"),
        ({"kb_hash": "other"}, "another knowledge base"),
        ({"bundle": ""}, "has no 'bundle'"),
    ],
)
def test_what_cannot_be_evaluated(tmp_path: Path, base_bundle: Bundle, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        list(run_evaluation(spec(tmp_path, base_bundle, **changes)))
