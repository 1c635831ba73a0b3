from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from models.core.kb import KB_FILE
from models.core.queries import document_queries
from models.encoders.encoders import load_encoder
from models.encoders.inputs import InputSettings, entity_tokens, mention_tokens
from models.errors import ModelError
from models.linker import retrieving
from models.linker.answering import united
from models.linker.bundle import Bundle, RetrieverSpec, new_id, new_staging, publish, reuse, seal
from models.linker.linker import Linker
from models.linker.overlay import change_entities
from models.linker.retrieving import add_trained, is_settled
from models.linker.stages import StageLoader, Stages
from models.names.candidates import NAMES, CandidateTable, PreparedLookup
from models.rankers.stage_weights import NO_WEIGHT
from models.retrievers.biencoder import Biencoder, BiencoderSettings, build_entity_index
from models.retrievers.scorers import Scorer, TokenStates, score
from models.retrievers.som import build_som_index
from models.retrievers.token_store import STATES_FILE
from models.types import DecidedDocument, DocumentInput, EntityRecord, MentionInput
from models.vectors.index import VectorIndex

INPUTS = InputSettings(32, 24)
TEXT = "Breast tumors (BC) and calcium+ in failing heart."
DOCUMENT = DocumentInput(
    "d",
    TEXT,
    (
        MentionInput("cancer", ((0, 13),), ("Disease",)),
        MentionInput("empty", ((3, 3),), ("Disease",)),
        MentionInput("calcium", ((23, 31),)),
        MentionInput("unknown", ((23, 31),), ("No such type",)),
        MentionInput("failure", ((35, 48),), ("Disease", "Chemical")),
    ),
)


@pytest.fixture(scope="module")
def path(bundle: Bundle) -> Path:
    """The untrained bundle with one retriever by SOM and one by DUAL, both of the encoder over names."""
    staging = new_staging(bundle.path.parent)
    for part in (KB_FILE, "retrievers", "encoders"):
        reuse(bundle, part, staging)
    kb = Linker.load(bundle.path, device="cpu").stages.kb
    (ref,) = next(spec for spec in bundle.manifest.retrievers if spec.name == NAMES).encoders
    encoder = load_encoder(bundle.encoder_folder(ref), device="cpu", max_tokens=ref.max_tokens)
    specs = []
    for scorer, build in ((Scorer.SOM, build_som_index), (Scorer.DUAL, build_entity_index)):
        settings = BiencoderSettings(scorer, INPUTS, shortlist=3)
        folder = f"retrievers/{scorer.value}"
        list(build(Biencoder(encoder, encoder, settings), kb, staging / folder, kb_hash=bundle.manifest.kb_hash))
        specs.append(RetrieverSpec(scorer.value, "biencoder", folder, (ref, ref), settings.to_json()))
    manifest = bundle.manifest.replace(id=new_id("own"), retrievers=(*bundle.manifest.retrievers, *specs))
    return publish(seal(staging, manifest, known=bundle).path).path


def test_on_a_gpu_every_index_of_a_bundle_is_searched_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(VectorIndex, "to_gpu", lambda self, *, wanted: asked.append(wanted) or "there")
    Linker.load(path, device="cpu")
    assert asked == [False] * 3, "names, SOM's shortlist, and the dual one"
    monkeypatch.setattr(StageLoader, "_on_gpu", True)
    Linker.load(path, device="cpu")
    assert asked[3:] == [True] * 3


@pytest.fixture(scope="module")
def linker(path: Path) -> Linker:
    """With a weight for both: a stage without is not asked."""
    loaded = Linker.load(path, device="cpu")
    weights = {**loaded.fusion.weights, Scorer.SOM.value: 1.0, Scorer.DUAL.value: 1.0}
    return loaded.with_weights(fusion=replace(loaded.fusion, weights=weights))


def expected_score(linker: Linker, scorer: Scorer, mention: MentionInput, entity: EntityRecord) -> float:
    served = next(r for r in linker.stages.trained if r.name == scorer.value).towers.mention  # type: ignore[attr-defined]
    encoder = load_encoder(served.folder, device="cpu", max_tokens=served.max_tokens)
    texts = [
        mention_tokens(encoder.tokenizer, DOCUMENT, mention, settings=INPUTS).ids,
        entity_tokens(encoder.tokenizer, entity, settings=INPUTS),
    ]
    tokens, mask = encoder.pad(texts)
    with torch.inference_mode():
        states = encoder.module.token_states(tokens, mask)
    return score(TokenStates(states[:1], mask[:1]), TokenStates(states[1:], mask[1:]), scorer).item()


def prepare(stages: Stages, *, k: int) -> list[PreparedLookup]:
    queries = document_queries(DOCUMENT)
    found = stages.names.find(queries, k=k)
    return [found[(query.variants, query.types)] for query in queries]


def tables(stages: Stages, *, by_name: int, trained: int) -> list[list[CandidateTable]]:
    queries = [document_queries(DOCUMENT)]
    return add_trained(
        stages, [DOCUMENT], queries, [prepare(stages, k=by_name)], k=trained, doubted=[True] * len(DOCUMENT.mentions)
    )


def test_trained_stages_of_a_bundle_score_every_candidate_as_training_does(linker: Linker) -> None:
    (answer,) = linker.link([DOCUMENT])
    judged = 0
    for mention, linked in zip(DOCUMENT.mentions, answer.mentions, strict=True):
        for candidate in linked.candidates:
            entity = linker.entity(candidate.entity_id)
            assert entity is not None
            for scorer in (Scorer.SOM, Scorer.DUAL):
                expected = expected_score(linker, scorer, mention, entity)
                assert candidate.scores[scorer.value] == pytest.approx(expected, rel=2e-3, abs=2e-2)
                judged += 1
    assert judged > 10
    assert [len(linked.candidates) for linked in answer.mentions if linked.key in ("empty", "unknown")] == [0, 0]


def test_every_trained_stage_says_how_it_searches(linker: Linker) -> None:
    told = "\n".join(linker.describe())
    assert "“som” sums the best match" in told
    assert "re-ranks the 3 entities" in told
    assert "“dual” compares" in told


def test_what_only_a_trained_retriever_finds_is_a_candidate(linker: Linker) -> None:
    ((cancer, empty, *_),) = tables(linker.stages, by_name=1, trained=2)
    by_name = prepare(linker.stages, k=1)[0].rows
    wanted = set(by_name.tolist())
    for retriever in linker.stages.trained:
        _, rows = retriever.ask([(DOCUMENT, DOCUMENT.mentions[0])]).search(
            [0], 2, ranges=linker.stages.kb.ranges(("Disease",))
        )
        wanted |= set(rows[0][rows[0] >= 0].tolist())
    assert set(cancer.rows.tolist()) == wanted > set(by_name.tolist())
    assert set(empty.scores) == set(cancer.scores)
    assert not len(empty.rows)


@pytest.mark.parametrize(("text", "asked"), [("calcium", 0), ("Aspirin", 0), ("calcium salt", 1), ("a pain", 1)])
def test_a_name_of_exactly_one_entity_needs_no_context(
    linker: Linker, monkeypatch: pytest.MonkeyPatch, text: str, asked: int
) -> None:
    document = DocumentInput("d", f"Some {text}.", (MentionInput("m", ((5, 5 + len(text)),)),))
    seen: list[int] = []
    for retriever in linker.stages.trained:
        ask = type(retriever).ask
        monkeypatch.setattr(
            type(retriever), "ask", lambda self, given, ask=ask: (seen.append(len(given)), ask(self, given))[1]
        )
    (answer,) = linker.link([document])
    assert sum(seen) == asked * len(linker.stages.trained)
    assert set(answer.mentions[0].candidates[0].scores) >= {"som", "dual"}


@pytest.mark.parametrize(
    ("other", "settled"),
    [("calcium channel", False), ("Salt of Calcium", False), ("calciumate", True), ("Salt", True)],
)
def test_a_name_that_is_part_of_the_name_of_another_candidate_is_not_settled(
    linker: Linker, other: str, settled: bool
) -> None:
    new = EntityRecord("N1", other, (), ("Chemical",))
    stages = change_entities(Linker.load(linker.bundle.path, device="cpu").stages, upsert=[new])
    document = DocumentInput("d", "Some calcium.", (MentionInput("m", ((5, 12),)),))
    (query,) = document_queries(document)
    (lookup,) = stages.names.find([query], k=64).values()
    assert is_settled(lookup, stages.kb.names, unless_part=True) is settled
    assert is_settled(lookup, stages.kb.names, unless_part=False)


@pytest.mark.parametrize(
    ("settled_lead", "known", "asked"), [(1.0, False, 2), (1.0, True, 0), (0.0, False, 0), (None, False, 2)]
)
def test_retrievers_are_asked_about_part_of_a_name_if_that_helps_and_the_memory_does_not_know_it(
    linker: Linker, monkeypatch: pytest.MonkeyPatch, settled_lead: float | None, known: bool, asked: int
) -> None:
    own = Linker.load(linker.bundle.path, device="cpu")
    own.stages = change_entities(own.stages, upsert=[EntityRecord("N1", "calcium channel", (), ("Chemical",))])
    weights = {} if settled_lead is None else dict.fromkeys(("som", "dual"), (*NO_WEIGHT[:-1], settled_lead))
    own = own.with_weights(fusion=linker.fusion, combiner=replace(own.combiner, stage_weights=weights))
    document = DocumentInput("d", "Some calcium.", (MentionInput("m", ((5, 12),)),))
    if known:
        own.remember(DecidedDocument(replace(document, key="other"), (("X1",),)))
    seen: list[int] = []
    for retriever in own.stages.trained:
        ask = type(retriever).ask
        monkeypatch.setattr(
            type(retriever), "ask", lambda self, given, ask=ask: (seen.append(len(given)), ask(self, given))[1]
        )
    list(own.link([document]))
    assert sum(seen) == asked


def test_mentions_are_asked_for_a_few_at_a_time(linker: Linker, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(linker.link([DOCUMENT, DOCUMENT]))
    monkeypatch.setattr(retrieving, "AT_ONCE", 1)
    for once, together in zip(linker.link([DOCUMENT, DOCUMENT]), whole, strict=True):
        for a, b in zip(once.mentions, together.mentions, strict=True):
            assert [c.entity_id for c in a.candidates] == [c.entity_id for c in b.candidates]
            np.testing.assert_allclose([c.score for c in a.candidates], [c.score for c in b.candidates], atol=1e-4)


def test_new_entities_reach_every_trained_stage(linker: Linker) -> None:
    new = EntityRecord("N1", "calcium in heart failure", (), ("Disease",))
    fresh = Linker.load(linker.bundle.path, device="cpu")
    stages = change_entities(fresh.stages, upsert=[new], remove=["D1"])
    ((cancer, *_),) = tables(stages, by_name=64, trained=64)
    row, removed = stages.kb.rows["N1"], linker.stages.kb.rows["D1"]
    assert removed not in cancer.rows
    for scorer in (Scorer.SOM, Scorer.DUAL):
        found = cancer.scores[scorer.value][cancer.rows.tolist().index(row)]
        assert found == pytest.approx(expected_score(linker, scorer, DOCUMENT.mentions[0], new), rel=2e-3, abs=2e-2)


def test_a_bundle_whose_token_vectors_are_cut_off_is_refused(path: Path, tmp_path: Path) -> None:
    broken = tmp_path / "bundle"
    shutil.copytree(path, broken)
    states = broken / "retrievers" / "som" / STATES_FILE
    states.write_bytes(states.read_bytes()[:-2])
    with pytest.raises(ModelError, match="damaged"):
        Linker.load(broken, device="cpu")


@pytest.mark.parametrize(
    ("leads", "order"),
    [
        ([], [3, 1, 0, 2]),
        ([[0.0, 0.0, 0.0, 0.0]], [3, 1, 0, 2]),
        ([[-1.0, -2.0, 0.0, -3.0]], [3, 2, 1, 0]),
        ([[-1.0, -2.0, 0.0, -3.0], [-3.0, -2.0, -1.0, 0.0]], [3, 2, 1, 0]),
    ],
    ids=["none", "not asked", "one", "two"],
)
def test_candidates_stand_at_their_best_place_of_any_stage(leads: list[list[float]], order: list[int]) -> None:
    assert united([3, 1, 0, 2], [np.asarray(lead) for lead in leads]) == tuple(order)
