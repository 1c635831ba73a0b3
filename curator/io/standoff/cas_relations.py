"""Relations of UIMA's annotations, in XMI and in WebAnno TSV: layers that join two annotations of mentions.

Layers that join tokens, such as dependencies, are not relations here: they stay in the record and are not shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from lxml import etree

from curator.domain.relations import Relation, RelationKind, SourceEnd, SourceRelation
from curator.io.files.relations import relations_for, unique_keys, unwritten
from curator.io.standoff import webanno_tree, xmi_tree
from curator.services.ports.files import ExportDocument, Problem

_LABELS = (*webanno_tree.TYPE_FEATURES, "relationtype", "role", "name")
_FROM, _TO = xmi_tree.RELATION_ENDS
NEW_LAYER = "webanno.custom.Relation"
"""The layer of new relations in a file without relations between mentions."""
LABEL = "label"
_BETWEEN = re.compile(r"([\d.-]+)(?:\[(\d+)_(\d+)\])?")


# XMI: an element with the ids of its governor and its dependent.


def xmi_relations(raw: str, extra: str) -> list[SourceRelation]:  # noqa: ARG001 as every format's
    """The relations of a CAS, in the order of the file; their keys are their ids."""
    cas = xmi_tree.parse(raw.encode("utf-8"), "")
    return [relation for _, relation in xmi_elements(cas)]


def xmi_elements(cas: xmi_tree.Cas) -> Iterator[tuple[Any, SourceRelation]]:
    """The relations with their elements."""
    records = {one.get(xmi_tree.ID): record for record, one in enumerate(cas.mentions())}
    for one in cas.root:
        ends = [one.get(end, "") for end in (_FROM, _TO)]
        if all(end in records for end in ends):
            named = xmi_tree.feature(one, _LABELS)
            kind = (one.get(named) if named else "") or xmi_tree.type_name(one).rpartition(".")[2]
            made = tuple(SourceEnd(role, records[end]) for role, end in zip((_FROM, _TO), ends, strict=True))
            yield one, SourceRelation(one.get(xmi_tree.ID, ""), kind, made)


def relate_xmi(
    cas: xmi_tree.Cas,
    item: ExportDocument,
    elements: Mapping[int, Any],
    problems: list[Problem],
    *,
    own: bool,
    take: Callable[[Any], str],
    discard: Callable[[Any], None],
) -> bool:
    """Remove the relations that a curator deleted, and write new ones.

    `elements` are the annotations of the mentions that are in the file, `own`: the CAS is the document's record.
    Returns whether anything changed.
    """
    there = list(xmi_elements(cas)) if own else []
    gone = [one for one, stated in there if stated.key in item.removed_relations]
    for one in gone:
        discard(one)
    wanted = relations_for(item, problems, own=own, kinds=(RelationKind.MENTIONS,), written=elements, title="UIMA XMI")
    like = next((one for one, _ in there), None)
    name = xmi_tree.type_name(like) if like is not None else NEW_LAYER
    label = (xmi_tree.feature(like, _LABELS) if like is not None else None) or LABEL
    for made in wanted:
        one = etree.Element(xmi_tree.tag_of(name), nsmap={"custom": xmi_tree.tag_of(name)[1:].partition("}")[0]})
        take(one)
        governor, dependent = (elements[mention] for mention in made.mention_ids)
        for end in (governor, dependent):
            if end.get(xmi_tree.ID) is None:  # as in a damaged file
                take(end)
        for place in ("begin", "end"):
            one.set(place, dependent.get(place))
        one.set(_FROM, governor.get(xmi_tree.ID))
        one.set(_TO, dependent.get(xmi_tree.ID))
        one.set(label, xmi_tree.xml_text(made.type))
        cas.sofa.addprevious(one)
    return bool(gone or wanted)


# WebAnno TSV: a cell at the dependent's token holds the address of its governor.


def webanno_relations(raw: str, extra: str) -> list[SourceRelation]:  # noqa: ARG001 as every format's
    """The relations of a file, in the order of their tokens."""
    return [relation for *_, relation in webanno_cells(webanno_tree.parse(raw))]


def webanno_cells(
    tree: webanno_tree.WebAnnoTree,
) -> list[tuple[webanno_tree.TokenUnit, webanno_tree.Layer, list[str], SourceRelation]]:
    """The relations with their unit, layer and cells."""
    found = webanno_tree.annotations_of(tree)
    made = []
    for layer in tree.layers:
        records = _records([(at, one) for at, one in enumerate(found) if one.layer.name == layer.base])
        for unit in tree.units() if layer.kind == "RL" and records else ():
            for cells, _ in webanno_tree.stacked(unit, layer):
                between = _BETWEEN.fullmatch(cells[-1])
                if between is None:
                    continue
                first = records.get((between[1], int(between[2] or 0)))
                second = records.get((unit.address, int(between[3] or 0)))
                if first is not None and second is not None:
                    ends = (SourceEnd(_FROM, first), SourceEnd(_TO, second))
                    name = f"{layer.name.rpartition('.')[2]} {cells[-1]} {unit.address}"
                    made.append((unit, layer, cells, SourceRelation(name, _label(layer, cells), ends)))
    keys = unique_keys([one.key for *_, one in made])
    return [
        (unit, layer, cells, SourceRelation(key, one.type, one.ends))
        for key, (unit, layer, cells, one) in zip(keys, made, strict=True)
    ]


def relate_webanno(
    tree: webanno_tree.WebAnnoTree,
    item: ExportDocument,
    written: Mapping[int, webanno_tree.WebAnnoAnnotation],
    wanted: Sequence[Relation],
    problems: list[Problem],
) -> None:
    """Write `wanted` into the cells, which already contain the mentions."""
    for made in wanted:
        first, second = (written[mention] for mention in made.mention_ids)
        if first.layer.name != second.layer.name:
            unwritten(item, problems, made, "WebAnno TSV")
            continue
        layer = _layer_for(tree, first.layer.name)
        numbers = f"[{first.number}_{second.number}]" if first.number or second.number else ""
        cells = [webanno_tree.NULL] * (len(layer.features) - 1) + [first.units[0].address + numbers]
        place = layer.feature(_LABELS)
        if place is None and len(layer.features) > 1:
            place = 0
        if place is not None:
            cells[place] = webanno_tree.escape(made.type)
        unit = second.units[0]
        for column, cell in zip(layer.columns, cells, strict=True):
            before = unit.cells[column]
            unit.cells[column] = cell if before == webanno_tree.EMPTY else f"{before}|{cell}"


def unrelate_webanno(tree: webanno_tree.WebAnnoTree, keys: Sequence[str]) -> None:
    """Remove the relations with these keys from the cells."""
    removed = frozenset(keys)
    gone = [(unit, layer, cells) for unit, layer, cells, one in webanno_cells(tree) if one.key in removed]
    for unit, layer, cells in gone:
        kept = list(webanno_tree.stacked(unit, layer))
        kept.remove(next(one for one in kept if one[0] == cells))
        for place, column in enumerate(layer.columns):
            words = [one[place] + (f"[{number}]" if number else "") for one, number in kept]
            unit.cells[column] = "|".join(words) or webanno_tree.EMPTY


def _layer_for(tree: webanno_tree.WebAnnoTree, base: str) -> webanno_tree.Layer:
    """The layer of relations between annotations of the layer `base`; a new one if there is none."""
    for layer in tree.layers:
        if layer.kind == "RL" and layer.base == base:
            return layer
    layer = webanno_tree.Layer("RL", NEW_LAYER, (LABEL, f"BT_{base}"), tree.width)
    for unit in tree.units():
        unit.cells += [webanno_tree.EMPTY] * len(layer.features)
    tree.layers.append(layer)
    return layer


def _records(base: Iterable[tuple[int, webanno_tree.WebAnnoAnnotation]]) -> dict[tuple[str, int], int]:
    """Annotations by the address of their first unit, with their number, and with 0 for the first one there."""
    found: dict[tuple[str, int], int] = {}
    for record, one in base:
        for number in (0, one.number):
            found.setdefault((one.units[0].address, number), record)
    return found


def _label(layer: webanno_tree.Layer, cells: Sequence[str]) -> str:
    place = layer.feature(_LABELS)
    empty = (webanno_tree.EMPTY, webanno_tree.NULL, "")
    values = [cells[place]] if place is not None else list(cells[:-1])
    said = next((one for one in values if one not in empty), "")
    return webanno_tree.unescape(said) or layer.name.rpartition(".")[2]
