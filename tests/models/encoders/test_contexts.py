from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast

from models.encoders.contexts import encode_contexts, plan_windows
from models.encoders.encoders import Encoder
from models.text.sentences import sentence_starts
from models.types import DocumentInput, MentionInput


def document(text: str, *surfaces: str, key: str = "d") -> DocumentInput:
    """Mentions of the given surfaces, each at its first place after the one before."""
    mentions, at = [], 0
    for number, surface in enumerate(surfaces):
        at = text.index(surface, at)
        mentions.append(MentionInput(f"m{number}", ((at, at + len(surface)),)))
        at += len(surface)
    return DocumentInput(key, text, tuple(mentions))


def words(encoder: Encoder, ids: tuple[int, ...]) -> str:
    return " ".join(encoder.tokenizer.convert_ids_to_tokens(ids))


def states(encoder: Encoder, text: str) -> torch.Tensor:
    ids, mask = encoder.pad([encoder.tokenizer(text).input_ids])
    with torch.inference_mode():
        return encoder.module.token_states(ids, mask)[0]


def unit(vector: torch.Tensor) -> np.ndarray:
    return (vector / vector.norm()).numpy()


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", [""]),
        ("One. Two.", ["One. ", "Two."]),
        ("Heart failure\nThe drug", ["Heart failure\n", "The drug"]),
        ("He (E. coli) had 5 mg i.v. Then none.", ["He (E. coli) had 5 mg i.v. Then none."]),
        ("Aspirin vs. Ibuprofen et al. A study. End", ["Aspirin vs. Ibuprofen et al. A study. ", "End"]),
        ("Pain? (Yes!) 3.5 mg daily.", ["Pain? ", "(Yes!) ", "3.5 mg daily."]),
        ("pH 7. small letters go on.", ["pH 7. small letters go on."]),
        ("Ends. ", ["Ends. "]),
    ],
)
def test_sentences_begin_where_a_reader_says(text: str, sentences: list[str]) -> None:
    starts = sentence_starts(text)
    assert [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)] == sentences


def test_a_mention_is_the_mean_of_its_tokens_in_its_sentence(encoder: Encoder) -> None:
    found = encode_contexts(encoder, [document("The drug. Acute heart failure and pain.", "heart failure", "pain")])
    expected = states(encoder, "Acute heart failure and pain.")
    heart = [2, 3]  # [CLS] acute heart failure and pain …, "acute" is a word of the vocabulary
    np.testing.assert_allclose(found.mentions[0], unit(expected[heart].mean(0)), atol=1e-5)
    np.testing.assert_allclose(found.windows[0], unit(expected.mean(0)), atol=1e-5)
    np.testing.assert_array_equal(found.windows[0], found.windows[1])
    assert not np.allclose(found.mentions[0], found.mentions[1])


def test_each_sentence_is_encoded_once_and_only_where_a_mention_is(encoder: Encoder) -> None:
    texts = "Acute pain and chronic pain. The drug. Heart failure."
    twice = [document(texts, "pain", "pain", "Heart", key=key) for key in "ab"]
    plan = plan_windows(encoder.tokenizer, twice, tokens=64)
    assert [words(encoder, ids) for ids in plan.windows] == [
        "[CLS] acute pain and chronic pain . [SEP]",
        "[CLS] heart failure . [SEP]",
    ]
    assert len(plan.places) == 6
    found = encode_contexts(encoder, twice)
    np.testing.assert_array_equal(found.mentions[found.of_document(0)], found.mentions[found.of_document(1)])


def test_the_order_of_documents_and_the_batches_change_nothing(encoder: Encoder) -> None:
    documents = [document(f"{'a ' * n}heart failure and pain", "heart", "pain", key=str(n)) for n in range(40)]
    forward = encode_contexts(encoder, documents)
    backward = encode_contexts(encoder, documents[::-1])
    alone = encode_contexts(encoder, documents[7:8])
    np.testing.assert_allclose(
        backward.mentions[::-1].reshape(40, 2, -1)[:, ::-1].reshape(80, -1), forward.mentions, atol=1e-5
    )
    np.testing.assert_allclose(alone.windows, forward.windows[forward.of_document(7)], atol=1e-5)


def test_a_long_sentence_is_divided_around_its_mentions(encoder: Encoder) -> None:
    text = "the " * 30 + "heart and pain " + "of " * 30 + "drug"
    plan = plan_windows(encoder.tokenizer, [document(text, "heart", "pain", "drug")], tokens=12)
    assert [words(encoder, ids) for ids in plan.windows] == [
        "[CLS] the the the heart and pain of of of of [SEP]",
        "[CLS] of of of of of of of of of drug [SEP]",
    ]
    assert [(p.mention, p.window, p.start, p.stop) for p in plan.places] == [(0, 0, 4, 5), (1, 0, 6, 7), (2, 1, 10, 11)]


@pytest.mark.parametrize("tokens", [8, 12, 16])
def test_no_window_is_too_long_and_no_mention_that_fits_is_cut(encoder: Encoder, tokens: int) -> None:
    random = np.random.default_rng(tokens)
    text = " ".join(random.choice(["heart", "failure", "of.", "The", "pain"], size=300))
    spans = [
        (int(a), int(a + n)) for a, n in zip(random.integers(0, 1200, 60), random.integers(1, 26, 60), strict=True)
    ]
    doc = DocumentInput("d", text, tuple(MentionInput(str(n), (span,)) for n, span in enumerate(spans)))
    plan = plan_windows(encoder.tokenizer, [doc], tokens=tokens)
    assert max(map(len, plan.windows)) <= tokens
    read = encoder.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    pieces = list(zip(encoder.tokenizer.convert_ids_to_tokens(read.input_ids), read.offset_mapping, strict=True))
    for number, (start, stop) in enumerate(spans):
        placed = [place for place in plan.places if place.mention == number]
        found = [words(encoder, plan.windows[place.window][place.start : place.stop]) for place in placed]
        expected = [token for token, (a, b) in pieces if a < stop and b > start]
        assert " ".join(found) == " ".join(expected)
        assert len(found) == -(-len(expected) // (tokens - 2)), "cut although it fits"


def test_a_sentence_end_inside_of_a_mention_is_none(encoder: Encoder) -> None:
    plan = plan_windows(encoder.tokenizer, [document("Acute pain. Heart failure. Drug.", "pain. Heart")], tokens=64)
    assert [words(encoder, ids) for ids in plan.windows] == ["[CLS] acute pain . heart failure . [SEP]"]


def test_a_discontinuous_mention_leaves_out_what_lies_between(encoder: Encoder) -> None:
    text = "breast and ovarian cancer"
    doc = DocumentInput("d", text, (MentionInput("m", ((0, 6), (19, 25))),))
    expected = states(encoder, text)[[1, 4]].mean(0)
    np.testing.assert_allclose(encode_contexts(encoder, [doc]).mentions[0], unit(expected), atol=1e-5)


def test_fragments_further_apart_than_a_window_are_read_where_they_stand(encoder: Encoder) -> None:
    text = "Breast disease. " + "The drug. " * 30 + "Ovarian cancer."
    at = text.index("cancer")
    doc = DocumentInput("d", text, (MentionInput("m", ((0, 6), (at, at + 6))),))
    both = states(encoder, "Breast disease.")[1] + states(encoder, "Ovarian cancer.")[2]
    np.testing.assert_allclose(encode_contexts(encoder, [doc], tokens=16).mentions[0], unit(both), atol=1e-5)


def test_characters_beyond_the_basic_plane_keep_offsets(encoder: Encoder) -> None:
    plain = encode_contexts(encoder, [document("a a heart failure", "heart")])
    doc = document("\U0001f600\U0001f9ec a heart failure \U0001f600", "heart")
    plan = plan_windows(encoder.tokenizer, [doc], tokens=64)
    place = plan.places[0]
    assert words(encoder, plan.windows[0][place.start : place.stop]) == "heart"
    assert encode_contexts(encoder, [doc]).mentions.shape == plain.mentions.shape


def test_tokens_that_begin_with_their_space_keep_to_their_sentence() -> None:
    """Byte-level tokenizers (RoBERTa) count the space before a word to it, and read an emoji as several tokens."""
    inner = Tokenizer(BPE())
    inner.pre_tokenizer = ByteLevel(add_prefix_space=False)
    inner.decoder = ByteLevelDecoder()
    trainer = BpeTrainer(special_tokens=["<s>", "</s>"], show_progress=False, initial_alphabet=ByteLevel.alphabet())
    inner.train_from_iterator(["Acute pain. Heart failure. Heart failure. Acute pain."] * 9, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, cls_token="<s>", sep_token="</s>")
    doc = document("Acute pain. Heart failure \U0001f9ec pain. Acute pain.", "Heart failure", "\U0001f9ec", "pain")
    plan = plan_windows(tokenizer, [doc], tokens=64)
    assert [tokenizer.decode(ids) for ids in plan.windows] == ["<s> Heart failure \U0001f9ec pain.</s>"]
    read = [tokenizer.decode(plan.windows[0][place.start : place.stop]).strip() for place in plan.places]
    assert read == ["Heart failure", "\U0001f9ec", "pain"]


def test_half_a_surrogate_pair_is_one_character(encoder: Encoder) -> None:
    whole, half = (encode_contexts(encoder, [document(f"a {mark} heart", "heart")]) for mark in ("?", "\ud83d"))
    np.testing.assert_array_equal(whole.mentions, half.mentions)


def test_mentions_without_tokens_have_zero_vectors(encoder: Encoder) -> None:
    text = "heart   failure"
    spans = [(3, 3), (6, 8), (0, 5), (90, 95), (5, 3)]
    doc = DocumentInput("d", text, tuple(MentionInput(str(n), (span,)) for n, span in enumerate(spans)))
    found = encode_contexts(encoder, [doc, DocumentInput("empty", ""), DocumentInput("none", "The drug.")])
    assert found.starts == (0, 5, 5, 5)
    lengths = np.linalg.norm(found.mentions, axis=1)
    np.testing.assert_allclose(lengths, [0, 0, 1, 0, 0], atol=1e-5)
    assert encode_contexts(encoder, []).mentions.shape == (0, encoder.dimension)


def test_long_mentions_and_long_documents(encoder: Encoder) -> None:
    """A mention of 5,000 characters is read in pieces; of a document of 20,000 tokens only what is needed."""
    long = "heart failure " * 357
    text = "The drug. " * 6500 + long
    at = len(text) - len(long)
    doc = DocumentInput("d", text, (MentionInput("drug", ((4, 8),)), MentionInput("long", ((at, len(text) - 1),))))
    plan = plan_windows(encoder.tokenizer, [doc], tokens=32)
    assert words(encoder, plan.windows[0]) == "[CLS] the drug . [SEP]"
    assert sum(p.stop - p.start for p in plan.places if p.mention == 1) == 714
    assert len(plan.windows) <= 4  # equal pieces are one
    found = encode_contexts(encoder, [doc], tokens=32)
    np.testing.assert_allclose(np.linalg.norm(found.mentions, axis=1), 1, atol=1e-5)


def test_no_window_is_longer_than_the_encoder_reads(make_tiny_bert, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from models.encoders.encoders import load_encoder

    small = load_encoder(make_tiny_bert(tmp_path / "small", positions=16, pooling="cls"), device="cpu")
    found = encode_contexts(small, [document("heart " * 60 + "pain", "pain")], tokens=512)
    assert found.windows.shape == (1, small.dimension)
