"""The memory against a plain recount of all decisions."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.retrievers import memory as module
from models.retrievers.memory import MentionMemory
from models.retrievers.recalled import NIL, NOTHING, Recalled, RecallQuery, RememberedDecision, Votes

D = 8
CHEMICAL, DISEASE = ("Chemical",), ("Disease",)


def vector(text: str) -> np.ndarray:
    values = np.random.default_rng(sum(map(ord, text))).normal(size=D)
    return (values / np.linalg.norm(values)).astype(np.float32)


def learn(memory: MentionMemory, document: str, *decided: tuple[str, tuple[str, ...]], types=DISEASE) -> None:
    given = [RememberedDecision(f"{document}.{n}", text, types, ids) for n, (text, ids) in enumerate(decided)]
    memory.learn(document, given, np.asarray([vector(text) for text, _ in decided]).reshape(len(decided), D))


def ask(memory: MentionMemory, text: str, *, own: str = "", key: str = "", types=DISEASE, whole: bool = True):
    (found,) = memory.recall([RecallQuery(key, text, types, own, whole)], vector(text)[None])
    return found


def test_a_repeated_string_comes_with_how_often_and_where() -> None:
    memory = MentionMemory(D)
    learn(memory, "a", ("cold", ("D1",)), ("cold", ("D1",)))
    learn(memory, "b", ("cold", ("D1",)))
    found = ask(memory, "cold")
    assert found.votes == {"D1": Votes(3, 2)}
    assert found.share["D1"] == pytest.approx(3 / 3.5)
    assert found.total == 3
    assert ask(memory, "warm") == NOTHING


def test_how_often_an_entity_was_decided_at_all_is_counted_without_the_asking_document() -> None:
    memory = MentionMemory(D)
    learn(memory, "a", ("cold", ("D1",)), ("chill", ("D1",)), ("flu", ("D2",)))
    learn(memory, "b", ("cold", ("D1",)))
    assert memory.counted(NOTHING, ["D1", "D2", "D3"]) == Recalled(popular={"D1": 2, "D2": 1}, documents=2)
    assert memory.counted(NOTHING, ["D1", "D2"], without="a") == Recalled(popular={"D1": 1}, documents=1)
    memory.forget("b")
    assert memory.counted(NOTHING, ["D1"], without="a") is NOTHING


def test_nil_decisions_are_remembered_too() -> None:
    memory = MentionMemory(D)
    learn(memory, "a", ("blorb", NIL), ("blorb", NIL), ("blorb", ("D1",)))
    found = ask(memory, "blorb")
    assert found.nil_votes == Votes(2, 1)
    assert found.nil_share == pytest.approx(2 / 3 * 3 / 3.5)
    assert found.share == {"D1": pytest.approx(1 / 3 * 3 / 3.5)}


def test_a_document_does_not_hear_itself() -> None:
    memory = MentionMemory(D)
    learn(memory, "a", ("cold", ("D1",)), ("cold", ("D1",)))
    assert ask(memory, "cold", own="a") == NOTHING
    assert ask(memory, "cold", own="a", key="a.0", whole=False).votes == {"D1": Votes(1, 1)}
    assert ask(memory, "cold", own="b").votes == {"D1": Votes(2, 1)}


def test_another_type_is_another_matter() -> None:
    memory = MentionMemory(D)
    learn(memory, "a", ("lead", ("D1",)), types=CHEMICAL)
    assert ask(memory, "lead", types=DISEASE) == NOTHING
    assert ask(memory, "lead", types=()).total == 1


def test_what_is_undone_is_forgotten() -> None:
    memory = MentionMemory(D)
    learn(memory, "a", ("cold", ("D1",)), ("flu", ("D2",)))
    learn(memory, "a", ("flu", ("D2",)))
    assert ask(memory, "cold") == NOTHING
    assert ask(memory, "flu").total == 1
    memory.forget("a")
    memory.forget("never heard of")
    assert (len(memory), memory.documents, ask(memory, "flu")) == (0, 0, NOTHING)


def test_the_nearest_other_string_counts_by_its_cosine() -> None:
    memory = MentionMemory(2)
    angle = np.asarray([[np.cos(0.3), np.sin(0.3)]], dtype=np.float32)
    memory.learn("a", [RememberedDecision("k", "colds", DISEASE, ("D1",))], angle)
    (found,) = memory.recall([RecallQuery("", "cold", DISEASE, "b")], np.asarray([[1.0, 0.0]], dtype=np.float32))
    assert found.nearest == {"D1": pytest.approx(np.cos(0.3), abs=1e-6)}
    assert found.score("D1") == pytest.approx(0.8 * (np.cos(0.3) - 0.85) / 0.15, abs=1e-5)
    assert found.entities == ("D1",)


def test_contexts_decide_among_rivals() -> None:
    memory = MentionMemory(D)
    learn(memory, "a", ("cold", ("D1",)))
    learn(memory, "b", ("cold", ("D2",)))
    like = {("a", "a.0"): 0.9, ("b", "b.0"): 0.1}
    asked = RecallQuery("k", "cold", DISEASE, "c")
    assert sorted(memory.rivals(asked)) == [("a", "a.0"), ("b", "b.0")]
    (found,) = memory.recall([asked], vector("cold")[None], likeness=lambda _, others: max(like[o] for o in others))
    weights = {name: np.exp(module.CONTEXT_SHARPNESS * value) for name, value in (("D1", 0.9), ("D2", 0.1))}
    for name, weight in weights.items():
        assert found.share[name] == pytest.approx(weight / sum(weights.values()) * 2 / 2.5)
    memory.forget("b")
    assert memory.rivals(asked) == []


def test_the_only_decision_of_one_of_many_strings_is_forgotten() -> None:
    memory = MentionMemory(D)
    for number in range(70):
        learn(memory, f"d{number}", (f"name {number}", ("D1",)))
    assert [ask(memory, f"name {number}").votes for number in range(70)] == [{"D1": Votes(1, 1)}] * 70
    memory.forget("d69")
    found = ask(memory, "name 69")
    assert (found.total, found.share, len(memory), memory.vectors) == (0, {}, 69, 69)


@pytest.mark.parametrize("seed", range(8))
def test_any_order_of_learning_and_forgetting_answers_like_a_memory_of_what_remains(seed: int) -> None:
    random = np.random.default_rng(seed)
    texts = [f"name {number}" for number in range(100)]  # more of one entity than any bound
    outcomes = [("D1",), ("D1",), ("D1",), ("D2",), ("D1", "D2"), NIL]
    lived, there = MentionMemory(D), {}
    for _ in range(400):
        document = f"d{random.integers(40)}"
        if random.random() < 0.3:
            lived.forget(document)
            there.pop(document, None)
        else:
            count = random.integers(0, 12)
            there[document] = [(str(random.choice(texts)), outcomes[random.integers(6)]) for _ in range(count)]
            learn(lived, document, *there[document])
    fresh = MentionMemory(D)
    for document, decided in there.items():
        learn(fresh, document, *decided)
    assert (len(lived), lived.vectors) == (len(fresh), fresh.vectors) == (len(lived), len(set(chain(*there.values()))))
    for text in texts:
        for own in ("", "d0", "d1"):
            found, expected = ask(lived, text, own=own), ask(fresh, text, own=own)
            times = Counter(
                e for where, all_ in there.items() if where != own for t, ids in all_ if t == text for e in ids
            )
            assert {entity: vote.times for entity, vote in found.votes.items()} == times
            assert (found.votes, found.total, found.nil_votes) == (expected.votes, expected.total, expected.nil_votes)
            assert (found.share, found.nearest) == (pytest.approx(expected.share), pytest.approx(expected.nearest))
            assert lived.counted(found, ["D1", "D2"], without=own).popular == (
                fresh.counted(expected, ["D1", "D2"], without=own).popular
            )


DECISIONS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", "z"]), st.sampled_from([NIL, ("1",), ("1", "2")])),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(DECISIONS, st.sets(st.sampled_from("abc")))
def test_votes_equal_a_plain_recount(decisions, forgotten) -> None:
    memory = MentionMemory(D)
    for document in "abc":
        learn(memory, document, *[(text, ids) for where, text, ids in decisions if where == document])
    for document in forgotten:
        memory.forget(document)
    left = [one for one in decisions if one[0] not in forgotten]
    for text in "xyz":
        for own in "abc":
            there = [(where, ids) for where, t, ids in left if t == text and where != own]
            times = Counter(entity for _, ids in there for entity in ids)
            found = ask(memory, text, own=own)
            assert {entity: vote.times for entity, vote in found.votes.items()} == dict(times)
            assert found.nil_votes.documents == len({where for where, ids in there if ids == NIL})
            assert found.total == len(there)
    assert len(memory) == len(left)


def test_an_encoder_to_which_all_is_alike_makes_nothing_near() -> None:
    angle = np.asarray([[np.cos(0.3), np.sin(0.3)]], dtype=np.float32)
    for background, near in ((0.2, np.cos(0.3)), (0.95, (np.cos(0.3) - 0.65) / 0.35)):
        memory = MentionMemory(2, background=background)
        memory.learn("a", [RememberedDecision("k", "colds", DISEASE, ("D1",))], angle)
        (found,) = memory.recall([RecallQuery("", "cold", DISEASE, "b")], np.asarray([[1.0, 0.0]], dtype=np.float32))
        assert found.nearest == {"D1": pytest.approx(near, abs=1e-5)}
