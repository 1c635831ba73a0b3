import dataclasses

import numpy as np
import pytest

from models.core.kb import KB_FILE
from models.encoders.encoders import load_encoder, save_encoder
from models.encoders.inputs import EntityStyle, InputSettings, entity_tokens, markers, mention_tokens
from models.errors import ModelError
from models.linker.bundle import EncoderRef, RankerSpec, RetrieverSpec, new_id, new_staging, publish, reuse, seal
from models.linker.linker import Linker
from models.linker.reranking import RANKER
from models.linker.tuning import evaluate, tune
from models.names.candidates import LEXICAL, NAMES
from models.names.lexical_merged import LexicalList
from models.rankers.combiner import LEXICAL_COMBINER
from models.rankers.dual_ranker import build_ranker_entities, encode_marked_mentions
from models.rankers.nil import NilModel
from models.rankers.ranker import RankerSettings
from models.retrievers.biencoder import Biencoder, BiencoderSettings, Scorer, build_entity_index
from models.retrievers.fusion import FusionWeights
from models.types import DecidedDocument, DocumentInput, EntityRecord, MentionInput

TEXT = "😀 Naïve: breast cancers and congestive heart failure (CHF); later CHF with Ca2+ and aspirin."


def _mention(key: str, quote: str, *types: str, text: str = TEXT, last: bool = False) -> MentionInput:
    start = text.rindex(quote) if last else text.index(quote)
    return MentionInput(key, ((start, start + len(quote)),), types)


DOCUMENT = DocumentInput(
    "doc",
    TEXT,
    (
        _mention("cancer", "breast cancers", "Disease"),
        _mention("chf", "CHF", "Disease", last=True),
        _mention("ca", "Ca2+", "Chemical"),
        _mention("free", "aspirin"),
    ),
)


@pytest.fixture(scope="module")
def linker(bundle) -> Linker:
    return Linker.load(bundle.path, device="cpu")


def _answers(linker: Linker, document: DocumentInput = DOCUMENT, k: int = 64):
    (answer,) = linker.link([document], k=k)
    return {mention.key: mention for mention in answer.mentions}


def test_mentions_are_linked_in_their_order_past_an_emoji(linker) -> None:
    answers = _answers(linker)
    assert list(answers) == ["cancer", "chf", "ca", "free"]
    assert [a.surface for a in answers.values()] == ["breast cancers", "CHF", "Ca2+", "aspirin"]
    tops = {key: answer.candidates[0].entity_id for key, answer in answers.items()}
    assert tops == {"cancer": "D1", "chf": "D3", "ca": "C1", "free": "C2"}
    assert answers["chf"].expanded == "congestive heart failure"
    assert answers["free"].candidates[0].matched == "aspirin"


def test_types_restrict_candidates(linker) -> None:
    answers = _answers(linker)
    assert {c.entity_id for c in answers["ca"].candidates} == {"C1", "C2"}
    assert {c.entity_id for c in answers["free"].candidates} == {"D1", "D2", "D3", "C1", "C2", "X1"}


def test_every_candidate_has_the_true_score_of_every_stage(linker) -> None:
    answer = _answers(linker)["cancer"]
    encoder = linker.stages.names.stages[NAMES].encoder
    query = encoder.encode(["breast cancers"])[0]
    for candidate in answer.candidates:
        entity = linker.entity(candidate.entity_id)
        stored = max(encoder.encode(list(entity.names)) @ query)
        assert candidate.scores[NAMES] == pytest.approx(stored, abs=2e-3)
        assert 0 <= candidate.scores[LEXICAL] <= 1.0001


def test_scores_fall_and_k_cuts(linker) -> None:
    scores = [c.score for c in _answers(linker)["free"].candidates]
    assert scores == sorted(scores, reverse=True)
    assert len(_answers(linker, k=2)["free"].candidates) == 2


def test_a_batch_answers_like_single_documents(linker) -> None:
    documents = [dataclasses.replace(DOCUMENT, key=f"d{i}", mentions=DOCUMENT.mentions[i : i + 1]) for i in range(4)]
    together = list(linker.link(documents * 10))
    assert [d.key for d in together] == [d.key for d in documents] * 10
    alone = [next(linker.link([document])) for document in documents]
    for one, other in zip(together[:4], alone, strict=True):
        assert [c.entity_id for c in one.mentions[0].candidates] == [c.entity_id for c in other.mentions[0].candidates]


def test_what_was_found_before_holds_until_entities_or_decisions_change(bundle) -> None:
    changing, fresh = (Linker.load(bundle.path, device="cpu") for _ in range(2))
    twice = dataclasses.replace(
        DOCUMENT, mentions=(*DOCUMENT.mentions, dataclasses.replace(DOCUMENT.mentions[0], key="x"))
    )
    (first,), (again,) = changing.link([twice]), changing.link([twice])
    assert first == again
    assert dataclasses.replace(first.mentions[-1], key="cancer") == first.mentions[0], "equal mentions, equal answers"
    decided = DecidedDocument(DocumentInput("past", TEXT, DOCUMENT.mentions[:1]), (("C2",),))
    for step in (
        lambda one: one.remember(decided),
        lambda one: one.upsert(EntityRecord("N1", "breast cancers", types=("Disease",))),
        lambda one: one.remove("D1"),
        lambda one: one.forget("past"),
    ):
        before = _answers(changing)
        step(changing)
        step(fresh)
        after, expected = _answers(changing), _answers(fresh)
        assert after != before
        for key, answer in expected.items():
            assert list(after[key].candidates.entity_ids) == list(answer.candidates.entity_ids)
            assert after[key].candidates.score == pytest.approx(answer.candidates.score, abs=1e-5)


def test_strange_mentions_get_a_sensible_answer(linker) -> None:
    long = "pain " * 1200
    document = DocumentInput(
        "d",
        f"x {long}",
        (
            MentionInput("empty", ((1, 1),)),
            MentionInput("no spans", ()),
            MentionInput("blank", ((1, 2),)),
            MentionInput("long", ((2, 5002),), ("Disease",)),
            MentionInput("unknown type", ((0, 1),), ("Planet",)),
        ),
    )
    answers = _answers(linker, document)
    for key in ("empty", "no spans", "blank", "unknown type"):
        assert not answers[key].candidates
        assert answers[key].nil.is_nil
    assert answers["long"].candidates
    assert next(linker.link([DocumentInput("none", "")])).mentions == ()


def test_a_knowledge_base_of_one_entity_and_duplicate_names(make_bundle, tmp_path) -> None:
    one = Linker.load(make_bundle(tmp_path / "one", (EntityRecord("E", "Рак", ("乳腺癌",)),)).path, device="cpu")
    document = DocumentInput("d", "乳腺癌", (MentionInput("m", ((0, 3),)),))
    assert _answers(one, document)["m"].candidates[0].entity_id == "E"
    twins = (EntityRecord("B", "pain", ("pain",)), EntityRecord("A", "pain"))
    two = Linker.load(make_bundle(tmp_path / "two", twins).path, device="cpu")
    document = DocumentInput("d", "pain", (MentionInput("m", ((0, 4),)),))
    assert [c.entity_id for c in _answers(two, document)["m"].candidates] == ["A", "B"]


def test_a_lexical_bundle_serves_without_an_encoder(make_bundle, tmp_path) -> None:
    bundle = make_bundle(tmp_path, stages=(LEXICAL,))
    lexical = Linker.load(bundle.path, device="cpu")
    answers = _answers(lexical)
    assert answers["cancer"].candidates[0].entity_id == "D1"
    assert NAMES not in answers["cancer"].candidates[0].scores
    assert bundle.manifest.kind == "untrained-lexical"


@pytest.mark.parametrize(
    ("kind", "words"), [(LexicalList.MERGED, "also searches by words"), (LexicalList.BM25, "BM25 over")]
)
def test_the_lexical_stage_finds_by_the_list_it_was_built_with(make_bundle, tmp_path, kind, words) -> None:
    """Another list finds other names; whatever is found has the characters' score."""
    usual = Linker.load(make_bundle(tmp_path / "usual", stages=(LEXICAL,)).path, device="cpu")
    other = Linker.load(make_bundle(tmp_path / "other", stages=(LEXICAL,), lexical=kind).path, device="cpu")
    assert any(words in sentence for sentence in other.describe())
    expected, found = _answers(usual)["cancer"], _answers(other)["cancer"]
    assert found.candidates[0].entity_id == "D1"
    scores = {c.entity_id: c.scores[LEXICAL] for c in expected.candidates}
    for candidate in found.candidates:
        assert candidate.scores[LEXICAL] == pytest.approx(scores.get(candidate.entity_id, candidate.scores[LEXICAL]))


def test_where_only_spelling_is_compared_a_whole_synonym_goes_before_a_part_of_a_name(make_bundle, tmp_path) -> None:
    """Whatever the preferred name of its entity is, and whichever of the two is defined."""
    kb = (
        EntityRecord("WHOLE", "myocardial infarction", ("heart attack",)),
        EntityRecord("PART", "heart", definition="A muscular organ that pumps blood."),
        EntityRecord("OTHER", "attack of panic", definition="A sudden fear."),
    )
    linker = Linker.load(make_bundle(tmp_path, kb, stages=(LEXICAL,)).path, device="cpu")
    assert linker.combiner == LEXICAL_COMBINER
    document = DocumentInput("d", "heart attack", (MentionInput("m", ((0, 12),)),))
    first, second, *_ = _answers(linker, document)["m"].candidates
    assert first.entity_id == "WHOLE"
    assert first.probability > 2 * second.probability


def test_detect_and_describe(linker) -> None:
    found = linker.detect(TEXT, ["Chemical"])
    assert [TEXT[m.start : m.end] for m in found] == ["aspirin"]
    text = " ".join(linker.describe())
    assert "processor" in text
    assert "lexical" in text
    assert "FAISS" in text
    assert "not calibrated" in text


def test_entities_are_found_by_alternate_ids(linker) -> None:
    assert linker.entity("O1").id == "D1"
    assert linker.entity("nothing") is None


def test_tuning_and_evaluation_by_hand(linker) -> None:
    gold = {("doc", "cancer"): frozenset({"D1"}), ("doc", "chf"): frozenset({"D2"}), ("doc", "ca"): frozenset()}
    tuned = tune(linker, [DOCUMENT], gold)
    assert tuned.fusion == linker.fusion
    assert tuned.combiner == linker.combiner
    assert not tuned.nil.calibrated
    never = linker.with_weights(nil=NilModel(1.1))
    answers = _answers(never)
    figures = evaluate([answers[key] for _, key in gold], list(gold.values()))
    assert figures["recall@1"] == 0.5
    assert figures["recall@64"] == 1.0
    assert figures["nil_recall"] == 0
    assert figures["accuracy_with_nil"] == pytest.approx(1 / 3)


@pytest.fixture(scope="module")
def trained(bundle, make_tiny_bert, tmp_path_factory) -> Linker:
    """The untrained bundle with a (random) bi-encoder and re-ranker added, as a training job would."""
    staging = new_staging(bundle.path.parent)
    for part in (KB_FILE, "retrievers", "encoders"):
        reuse(bundle, part, staging)
    linker = Linker.load(bundle.path, device="cpu")
    source = load_encoder(make_tiny_bert(tmp_path_factory.mktemp("t") / "t", seed=5), device="cpu", max_tokens=64)
    fingerprint = save_encoder(source, staging / "encoders" / "own")
    encoder = load_encoder(staging / "encoders" / "own", device="cpu", max_tokens=64)
    ref = EncoderRef("bundle", fingerprint, "encoders/own")
    kb, kb_hash = linker.stages.kb, bundle.manifest.kb_hash
    towers = Biencoder(encoder, encoder, BiencoderSettings(Scorer.DOT, InputSettings(32, 32)))
    steps = list(build_entity_index(towers, kb, staging / "retrievers" / "own", kb_hash=kb_hash))
    assert steps[-1].done == steps[-1].total == len(kb.entities)
    settings = RankerSettings()
    list(build_ranker_entities(encoder, kb, staging / "ranker", settings=settings, kb_hash=kb_hash))
    manifest = bundle.manifest.replace(
        id=new_id("own"),
        retrievers=(
            *bundle.manifest.retrievers,
            RetrieverSpec("own", "biencoder", "retrievers/own", (ref, ref), towers.settings.to_json()),
        ),
        ranker=RankerSpec("prototype", "dual", "ranker", (ref, ref), 2, settings.to_json()),
        fusion=FusionWeights({NAMES: 1.0, LEXICAL: 1.0, "own": 0.5, RANKER: 0.5}).to_json(),
    )
    return Linker.load(publish(seal(staging, manifest, known=bundle).path).path, device="cpu")


def test_a_trained_retriever_scores_every_candidate_exactly(trained) -> None:
    retriever = trained.stages.trained[0]
    tokens = mention_tokens(
        retriever.towers.mention.tokenizer, DOCUMENT, DOCUMENT.mentions[2], settings=retriever.towers.settings.inputs
    )
    vector = retriever.towers.mention.encode_ids([tokens.ids], normalize=False)[0]
    for candidate in _answers(trained)["ca"].candidates:
        record = trained.entity(candidate.entity_id)
        ids = entity_tokens(retriever.towers.entity.tokenizer, record, settings=retriever.towers.settings.inputs)
        expected = retriever.towers.entity.encode_ids([ids], normalize=False)[0] @ vector
        assert candidate.scores["own"] == pytest.approx(float(expected), rel=1e-3, abs=1e-3)


def test_the_ranker_scores_the_first_candidates_by_distance(trained) -> None:
    answer = _answers(trained)["free"]
    ranker = trained.stages.ranker
    mention = encode_marked_mentions(
        ranker.mention, [(DOCUMENT, DOCUMENT.mentions[3])], settings=ranker.settings.inputs
    )[0]
    distances = {
        c.entity_id: float(np.linalg.norm(ranker.entities[trained.stages.kb.rows[c.entity_id]] - mention))
        for c in answer.candidates
    }
    given = {c.entity_id: c.scores[RANKER] for c in answer.candidates}
    (nearer,) = (name for name, score in given.items() if score == 0)
    judged = [c.entity_id for c in answer.candidates][:2]
    gap = abs(distances[judged[0]] - distances[judged[1]])
    assert sorted(given.values())[:-1] == pytest.approx([-gap / (1 + gap)] * (len(given) - 1), abs=1e-5)
    assert nearer in judged
    assert distances[nearer] == min(distances[name] for name in judged)


def test_a_stage_of_weight_zero_changes_nothing(trained, linker) -> None:
    silent = trained.with_weights(fusion=FusionWeights({**linker.fusion.weights, "own": 0.0, RANKER: 0.0}))
    for key, answer in _answers(linker).items():
        assert [c.entity_id for c in _answers(silent)[key].candidates] == [c.entity_id for c in answer.candidates]


def test_a_stage_of_weight_zero_is_not_asked_but_scored_where_weights_are_fitted(trained) -> None:
    silent = trained.with_weights(fusion=FusionWeights({**trained.fusion.weights, "own": 0.0, RANKER: 0.0}))
    asked = silent.stages.tally.asked
    for answer in _answers(silent).values():
        assert all(not {"own", RANKER} & candidate.scores.keys() for candidate in answer.candidates)
    assert silent.stages.tally.asked == asked
    assert all({"own", RANKER} <= one.table.scores.keys() for one in silent.score([DOCUMENT]))


def test_trained_bundles_accept_strange_mentions(trained) -> None:
    document = DocumentInput("d", "x y", (MentionInput("a", ()), MentionInput("b", ((0, 1),), ("Planet",))))
    assert [len(m.candidates) for m in next(trained.link([document])).mentions] == [0, 0]


def test_a_foreign_encoder_is_refused(trained, tmp_path) -> None:
    weights = trained.bundle.path / "encoders" / "own" / "config.json"
    whole = weights.read_text()
    weights.write_text(whole.replace("0.1", "0.2"))
    try:
        with pytest.raises(ModelError, match="is not the one"):
            Linker.load(trained.bundle.path, device="cpu")
    finally:
        weights.write_text(whole)


def test_mention_input_keeps_markers_and_balances_context(encoder) -> None:
    text = "a b c d e f g h heart i j k l m n o p"
    start = text.index("heart")
    document = DocumentInput("d", text, ())
    marks = markers(encoder.tokenizer)
    settings = InputSettings(mention_tokens=11)
    found = mention_tokens(encoder.tokenizer, document, MentionInput("m", ((start, start + 5),)), settings=settings)
    assert len(found.ids) == 11
    assert (found.ids[found.start], found.ids[found.end]) == (marks.start, marks.end)
    assert found.end - found.start == 2
    assert (found.start - 1, len(found.ids) - found.end - 2) == (3, 3)
    first = mention_tokens(encoder.tokenizer, document, MentionInput("m", ((0, 1),)), settings=settings)
    assert first.start == 1
    assert len(first.ids) == 11


@pytest.mark.parametrize("style", [style for style in EntityStyle if style is not EntityStyle.MEAN_OF_NAMES])
def test_entity_input_begins_and_ends_with_special_tokens(encoder, style) -> None:
    marks = markers(encoder.tokenizer)
    record = EntityRecord("e", "heart failure", ("cardiac failure",), ("Disease",), "The heart fails. " * 40)
    ids = entity_tokens(encoder.tokenizer, record, settings=InputSettings(entity_tokens=24, style=style))
    assert (ids[0], ids[-1]) == (marks.cls, marks.sep)
    assert len(ids) <= 24
