"""The Reconciliation API: answers are valid against schemas of the specification, wrong questions get a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from curator.services.linking.reconciliation import MOST_EXTENDED, MOST_QUERIES, VALUES, ReconciliationApi
from curator.services.ports.web import WebAnswer, WebError, WebQuestion
from tests.curator.services.fakes import KB, World, finish, make_world
from tests.curator.services.linking import reconciliation_schemas as schemas

LIDOCAINE, ARREST, ARRHYTHMIA = (str(one["id"]) for one in KB)
BASE = "http://127.0.0.1:7878/secret/"
HOSTILE = "<script>alert('x')</script>"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = make_world(tmp_path, documents=1)
    world.kb([*KB, {"id": "X:1", "name": HOSTILE, "definition": HOSTILE, "synonyms": ["<b>"], "parents": [ARREST]}])
    world.index()
    finish(world.project.reconciliation.start())
    yield world
    world.project.close()


@pytest.fixture
def api(world: World) -> ReconciliationApi:
    return ReconciliationApi(world.project.reconciliation, world.project.knowledge, name="trial")


def asked(api: ReconciliationApi, path: str = "", **fields: Any) -> WebAnswer:
    texts = {key: one if isinstance(one, str) else json.dumps(one) for key, one in fields.items()}
    return api.answer(WebQuestion(path, texts, BASE))


def answered(api: ReconciliationApi, schema: dict[str, Any], path: str = "", **fields: Any) -> Any:
    answer = asked(api, path, **fields)
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(answer.body)
    return answer.body


def found(api: ReconciliationApi, **query: Any) -> list[str]:
    [one] = answered(api, schemas.RESULTS, queries={"q0": query}).values()
    return [each["id"] for each in one["result"]]


def test_the_manifest_leads_to_everything_else(api: ReconciliationApi) -> None:
    manifest = answered(api, schemas.MANIFEST)
    assert manifest["name"] == "trial: kb.jsonl"
    assert {one["id"] for one in manifest["defaultTypes"]} == {"Chemical", "Disease"}
    assert manifest["preview"]["url"] == f"{BASE}preview?id={{{{id}}}}"
    for place in (*manifest["suggest"].values(), manifest["extend"]["propose_properties"]):
        address = place["service_url"] + place["service_path"]
        assert address.startswith(BASE)
        assert asked(api, address.removeprefix(BASE), prefix="a").status == HTTPStatus.OK


def test_a_batch_is_answered_key_by_key(api: ReconciliationApi) -> None:
    batch = {"q0": {"query": "heart", "type": "Disease", "limit": 1}, "q1": {"query": ARREST}, "q2": {"query": ""}}
    body = answered(api, schemas.RESULTS, queries=batch)
    assert list(body) == ["q0", "q1", "q2"]
    assert [one["id"] for one in body["q0"]["result"]] == [ARREST]
    assert (body["q1"]["result"][0]["score"], body["q1"]["result"][0]["match"]) == (100, True)
    assert body["q2"] == {"result": []}
    assert answered(api, schemas.RESULTS, queries='{"q": {"query": "half a character \\ud800"}}').keys() == {"q"}
    assert answered(api, schemas.RESULTS, queries={}) == {}


def test_types_are_understood_as_the_specification_and_corpora_write_them(api: ReconciliationApi) -> None:
    diseases, everything = [ARREST, ARRHYTHMIA], [LIDOCAINE, ARREST, ARRHYTHMIA]
    assert found(api, query="x", type=["Disease"]) == found(api, query="x", type="SpecificDisease") == diseases
    assert found(api, query="x", type=["Disease", "nonsense"]) == diseases
    assert found(api, query="x", type=["Disease", "nonsense"], type_strict="all") == []
    assert found(api, query="x", type="nonsense") == []
    assert found(api, query="x", type="nonsense", type_strict="should") == everything
    assert found(api, query="x", type="") == everything


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"v": ARRHYTHMIA}, [ARRHYTHMIA]),
        ({"v": f" {ARRHYTHMIA} "}, [ARRHYTHMIA]),
        ({"v": [ARRHYTHMIA]}, [ARRHYTHMIA]),
        ({"v": ARRHYTHMIA.partition(":")[2]}, [ARRHYTHMIA]),
        ({"v": [{"id": ARRHYTHMIA, "name": "a"}]}, [ARRHYTHMIA]),
        ({"v": 77}, ["77"]),
        ({"v": "made:up"}, [LIDOCAINE, ARREST]),
        ({"v": "made:up", "query": ARREST}, [ARREST]),
        ({"v": LIDOCAINE, "query": ARREST}, [LIDOCAINE]),
        ({"v": LIDOCAINE, "type": "Disease"}, [ARREST]),
    ],
)
def test_an_identifier_names_the_entity_for_any_words(
    api: ReconciliationApi, world: World, query: dict[str, Any], expected: list[str]
) -> None:
    world.kb([*KB, {"id": "77", "name": "A number"}], name="numbers.jsonl")
    properties = [{"pid": "id", "v": query["v"]}]
    wanted = {"query": "heart", "properties": properties} | {k: v for k, v in query.items() if k != "v"}
    assert found(api, **wanted)[: len(expected)] == expected


def test_properties_refine(api: ReconciliationApi, world: World) -> None:
    assert found(api, properties=[{"pid": "id", "v": [{"id": ARRHYTHMIA, "name": "a"}]}]) == [ARRHYTHMIA]
    found(api, query="MI", properties=[{"pid": "context", "v": "After MI."}, {"pid": "year", "v": 1999}])
    assert world.linker.asked[-1].documents[0].text == "After MI."


@pytest.mark.parametrize(
    ("queries", "words"),
    [
        ("[1, 2", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ([], "JSON object"),
        ({"q": "heart"}, "needs “query” or “properties”"),
        ({"q": {"properties": []}}, "needs “query” or “properties”"),
        ({"q": {"query": 3}}, "not a string"),
        ({"q": {"query": "x", "limit": 0}}, "“limit”"),
        ({"q": {"query": "x", "limit": "3"}}, "“limit”"),
        ({"q": {"query": "x", "limit": 1e999}}, "“limit”"),
        ({"q": {"query": "x", "type": [1]}}, "“type”"),
        ({"q": {"query": "x", "type_strict": "no"}}, "“type_strict”"),
        ({"q": {"query": "x", "odd": 1}}, "“odd”"),
        ({"q": {"query": "x", "properties": {}}}, "“properties”"),
        ({"q": {"query": "x", "properties": [{"pid": "id"}]}}, "“pid” or “v”"),
    ],
)
def test_a_wrong_batch_gets_a_sentence(api: ReconciliationApi, queries: Any, words: str) -> None:
    with pytest.raises(WebError, match=words) as error:
        asked(api, queries=queries)
    assert error.value.status == HTTPStatus.BAD_REQUEST


def test_batches_have_a_size(api: ReconciliationApi) -> None:
    whole = {f"q{n}": {"query": f"w{n}"} for n in range(MOST_QUERIES)}
    assert len(answered(api, schemas.RESULTS, queries=whole)) == MOST_QUERIES
    for fields in (
        {"queries": {**whole, "one more": {"query": "x"}}},
        {"extend": {"ids": ["X"] * (MOST_EXTENDED + 1), "properties": []}},
    ):
        with pytest.raises(WebError, match="at most") as error:
            asked(api, **fields)
        assert error.value.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def test_entities_types_and_properties_are_suggested_while_typing(api: ReconciliationApi) -> None:
    entities = answered(api, schemas.SUGGESTED, "suggest/entity", prefix="heart arr")["result"]
    assert (entities[0]["id"], entities[0]["notable"]) == (ARREST, [{"id": "Disease", "name": "Disease"}])
    assert answered(api, schemas.SUGGESTED, "suggest/entity", prefix="")["result"] == []
    assert answered(api, schemas.SUGGESTED, "suggest/entity", prefix="heart arr", cursor="1")["result"] == []
    assert [one["id"] for one in answered(api, schemas.SUGGESTED, "suggest/type", prefix="dis")["result"]] == [
        "Disease"
    ]
    listed = answered(api, schemas.SUGGESTED, "suggest/property", prefix="")["result"]
    assert {one["id"] for one in listed} == {*VALUES, "context", "id"}
    with pytest.raises(WebError, match="“cursor”"):
        asked(api, "suggest/type", cursor="x")


def test_values_of_properties_are_fetched(api: ReconciliationApi) -> None:
    wanted = [{"id": one} for one in VALUES]
    body = answered(api, schemas.EXTENDED, extend={"ids": ["X:1", "made:up"], "properties": wanted})
    assert [one["id"] for one in body["meta"]] == list(VALUES)
    assert body["rows"]["X:1"]["parents"] == [{"id": ARREST, "name": "Heart Arrest"}]
    assert body["rows"]["X:1"]["synonyms"] == [{"str": "<b>"}]
    assert body["rows"]["made:up"] == {one: [] for one in VALUES}
    assert len(answered(api, schemas.PROPOSED, "properties", type="Disease", limit="2")["properties"]) == 2
    assert len(answered(api, schemas.PROPOSED, "properties", limit="x")["properties"]) == len(VALUES)
    for extend, words in (({"ids": "X", "properties": []}, "“ids”"), ({"ids": [], "properties": [{"id": "z"}]}, "'z'")):
        with pytest.raises(WebError, match=words):
            asked(api, extend=extend)


def test_a_preview_shows_the_words_of_others_as_written(api: ReconciliationApi) -> None:
    page = asked(api, "preview", id="X:1").body
    assert isinstance(page, str)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 2
    assert "&lt;b&gt;" in page


def test_a_made_up_entity_or_place_is_not_found(api: ReconciliationApi) -> None:
    missing = asked(api, "preview", id="<i>made:up")
    assert missing.status == HTTPStatus.NOT_FOUND
    assert "no entity &lt;i&gt;made:up" in str(missing.body)
    with pytest.raises(WebError, match="nothing at"):
        asked(api, "admin")
