"""OBO Graphs (JSON), as published by ROBOT and the OBO Foundry: classes as entities.

Names are the label and the synonyms of every scope; the type is the term's OBO namespace, or else the graph's name.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from curator.domain.entities import Entity
from curator.domain.wording import UserError, ntr, tr
from curator.io.files.source import plain_text
from curator.io.kb.base import KbReader, OntologyTerm, entities, successors, term_id

REPLACED_BY = ("0100001", "replacedBy")  # of IAO and of oboInOwl
_START = re.compile(rb'^\s*\{[\s\S]{0,2000}"graphs"\s*:\s*\[')


class OboGraphsReader(KbReader):
    """The file is parsed as a whole: it takes some five times its size in memory."""

    format = "obographs"
    title = "OBO Graphs JSON"
    refusal = '{path} is not an OBO graph: it has no "graphs"'

    @staticmethod
    def sniff(head: bytes) -> bool:
        return _START.match(head) is not None

    def entities(self) -> Iterator[tuple[int, Entity]]:
        graphs = self._graphs()
        terms = [term for graph in graphs for term in self._terms(graph)]
        nodes = (node for graph in graphs for node in _dicts(graph.get("nodes")))
        for key, n in Counter(key for node in nodes for key in _wrong(node)).items():
            one = "{n} term has no text in “{key}”: that is left out"
            several = "{n:,} terms have no text in “{key}”: that is left out"
            self.problems.set_aside(ntr(one, several, n, key=key))
        yield from entities(terms, successors(terms), self.problems, self.obsolete)

    def _graphs(self) -> list[Mapping[str, Any]]:
        with self.source.stream() as stream:
            data = stream.read()
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise UserError(
                tr(
                    "{path} is broken JSON ({error}): download or export the file again",
                    path=self.source.path,
                    error=error,
                )
            ) from error
        graphs = value.get("graphs") if isinstance(value, dict) else None
        return [one for one in graphs if isinstance(one, dict)] if isinstance(graphs, list) else []

    def _terms(self, graph: Mapping[str, Any]) -> Iterator[OntologyTerm]:
        parents: defaultdict[str, list[str]] = defaultdict(list)
        properties: set[str] = set()  # also types of synonyms and subsets
        for edge in _dicts(graph.get("edges")):
            sub, predicate, obj = (_text(edge.get(key)) for key in ("sub", "pred", "obj"))
            if predicate == "is_a" or _local(predicate) == "subClassOf":
                parents[term_id(sub)].append(term_id(obj))
            elif _local(predicate) == "subPropertyOf":
                properties |= {term_id(sub), term_id(obj)}
            else:
                properties.add(term_id(predicate))
        type_ = Path(_text(graph.get("id"))).stem
        nodes = _dicts(graph.get("nodes"))
        for meta in (node["meta"] for node in nodes if isinstance(node.get("meta"), dict)):
            properties |= {term_id(_text(one.get("synonymType"))) for one in _dicts(meta.get("synonyms"))}
            subsets = meta.get("subsets")
            properties |= {term_id(_text(one)) for one in (subsets if isinstance(subsets, list) else ())}
        for node in nodes:
            node_id = term_id(_text(node.get("id")))
            if node_id and node.get("type") in (None, "CLASS") and node_id not in properties:
                yield _term(node_id, node, parents.get(node_id, []), type_)


def _wrong(node: Mapping[str, Any]) -> Iterator[str]:
    """The keys whose values in a node have another form than those of OBO Graphs, and are not read."""
    meta = node.get("meta")
    parts = meta if isinstance(meta, dict) else {}
    yield from (key for key in ("id", "lbl", "type") if not isinstance(node.get(key), str | None))
    if not isinstance(meta, dict | None):
        yield "meta"
    if parts.get("definition") is not None and not isinstance(_value(parts["definition"]), str):
        yield "definition"
    for key in ("synonyms", "basicPropertyValues"):
        found = parts.get(key)
        if found is not None and not (isinstance(found, list) and all(isinstance(_value(one), str) for one in found)):
            yield key


def _value(found: object) -> object:
    """What is stated as a synonym, a definition or a property: as such, or as `val` of an object."""
    return found.get("val") if isinstance(found, dict) else found


def _term(node_id: str, node: Mapping[str, Any], parents: list[str], type_: str) -> OntologyTerm:
    meta = node.get("meta") if isinstance(node.get("meta"), dict) else {}
    assert isinstance(meta, dict)
    definition, synonyms = meta.get("definition"), meta.get("synonyms")
    values: dict[str, list[str]] = defaultdict(list)
    for pair in _dicts(meta.get("basicPropertyValues")):
        values[_local(_text(pair.get("pred")))].append(_text(pair.get("val")))
    return OntologyTerm(
        node_id,
        name=_text(node.get("lbl")),
        names=[_text(_value(one)) for one in (synonyms if isinstance(synonyms, list) else ())],
        definition=_text(_value(definition)),
        types=(values["hasOBONamespace"] or [type_])[:1],
        alt_ids=[term_id(one) for one in values["hasAlternativeId"]],
        parents=parents,
        deprecated=meta.get("deprecated") in (True, "true") or "true" in values["deprecated"],
        replaced_by=[term_id(one) for key in REPLACED_BY for one in values[key]],
        consider=[term_id(one) for one in values["consider"]],
    )


def _local(predicate: str) -> str:
    """The name of a predicate without namespace, from an address or a CURIE (`oio:consider`, `IAO:0100001`)."""
    return re.split(r"[#/:]", predicate)[-1].removeprefix("IAO_")


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return " ".join(plain_text(value).split()) if isinstance(value, str) else ""
