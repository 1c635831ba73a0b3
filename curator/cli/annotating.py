"""attributes; mention set; relations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import (
    AS_JSON,
    CURATOR,
    PROJECT,
    change_facts,
    counted,
    document_named,
    opened,
    say,
    say_change,
)
from curator.cli.deciding import IDENTICAL, listed_facts, listed_lines, outcome_words, ticked_of
from curator.cli.mentions import mention
from curator.domain.attributes import PRESETS, Attribute, AttributeValue, Scheme, same_name
from curator.domain.relations import RelationKind
from curator.domain.wording import UserError
from curator.services.curating.propagation import PropagationScope

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.domain.decisions import Change
    from curator.domain.relations import Relation
    from curator.services.core.relation_reading import DocumentRelations
    from curator.services.importing.file_attributes import FileAttribute
    from curator.services.ports.address import ProjectPlace

__all__ = ["attributes", "mention", "relations"]

SHOWN_VALUES = 12
NAME = click.argument("name")
VALUE = click.option("--value", metavar="VALUE", help="Act on this value of the attribute NAME.")


@click.group("attributes")
def attributes() -> None:
    """Define attributes of mentions, such as negation: a name and up to nine named values.

    `curator mention set` gives them to mentions.
    """


@attributes.command("list")
@PROJECT
@AS_JSON
def list_attributes(project: ProjectPlace, *, as_json: bool) -> None:
    """List the attributes of P, their values, and how many mentions have each value."""
    with opened(project, read_only=True) as found:
        scheme, uses = found.attributes.scheme(), found.attributes.uses()
    result = {"attributes": [_facts(one, uses) for one in scheme.attributes]}
    lines = [line for one in scheme.attributes for line in _lines(one, uses)]
    nothing = "No attributes yet. `curator attributes add P NAME VALUE…` adds one."
    say(result, "\n".join(lines) or nothing, as_json=as_json)


@attributes.command("add")
@PROJECT
@click.argument("name")
@click.argument("values", nargs=-1)
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only for mentions of this type. Repeatable.")
@CURATOR
@AS_JSON
def add(
    project: ProjectPlace, name: str, values: tuple[str, ...], *, types: tuple[str, ...], curator: str, as_json: bool
) -> None:
    """Add the attribute NAME with VALUES, or VALUES to the attribute NAME if P has it.

    Without VALUES, NAME is one of the presets: negation, subject, time, certainty.
    """
    with opened(project, curator=curator) as found:
        scheme = found.attributes.scheme()
        there = next((one for one in scheme.shown if same_name(one.name, name)), None)
        if there is None:
            scheme = scheme.with_attribute(name, values or _preset(name), types)
        elif types:
            raise UserError(f"The attribute “{there.name}” exists. `curator attributes limit P NAME` sets its types.")
        else:
            for one in values:
                scheme = scheme.with_value(there.id, one)
        _save(found, scheme, as_json=as_json)


@attributes.command("rename")
@PROJECT
@NAME
@click.argument("new")
@VALUE
@CURATOR
@AS_JSON
def rename(project: ProjectPlace, name: str, new: str, *, value: str | None, curator: str, as_json: bool) -> None:
    """Rename the attribute NAME, or one of its values, to NEW. What mentions have is kept."""
    with opened(project, curator=curator) as found:
        scheme = found.attributes.scheme()
        one = scheme.named(name)
        changed = scheme.renamed(one.id, new) if value is None else scheme.value_renamed(_value(one, value).id, new)
        _save(found, changed, as_json=as_json)


@attributes.command("limit")
@PROJECT
@NAME
@click.argument("types", nargs=-1, metavar="[TYPE]...")
@CURATOR
@AS_JSON
def limit(project: ProjectPlace, name: str, types: tuple[str, ...], *, curator: str, as_json: bool) -> None:
    """Offer the attribute NAME only for mentions of these types; without TYPE, for all mentions."""
    with opened(project, curator=curator) as found:
        scheme = found.attributes.scheme()
        _save(found, scheme.limited(scheme.named(name).id, types), as_json=as_json)


@attributes.command("delete")
@PROJECT
@NAME
@VALUE
@CURATOR
@AS_JSON
def delete(project: ProjectPlace, name: str, *, value: str | None, curator: str, as_json: bool) -> None:
    """Hide the attribute NAME, or one of its values. Mentions keep it, and `attributes restore` shows it again."""
    with opened(project, curator=curator) as found:
        scheme = found.attributes.scheme()
        one = scheme.named(name)
        changed = scheme.hidden(one.id, True) if value is None else scheme.value_hidden(_value(one, value).id, True)
        _save(found, changed, as_json=as_json)


@attributes.command("restore")
@PROJECT
@NAME
@VALUE
@CURATOR
@AS_JSON
def restore(project: ProjectPlace, name: str, *, value: str | None, curator: str, as_json: bool) -> None:
    """Show the deleted attribute NAME, or one of its deleted values, again."""
    with opened(project, curator=curator) as found:
        scheme = found.attributes.scheme()
        if value is None:
            every: Sequence[Attribute | AttributeValue] = scheme.attributes
            changed = scheme.hidden(_deleted(every, name), False)
        else:
            changed = scheme.value_hidden(_deleted(scheme.named(name).values, value), False)
        _save(found, changed, as_json=as_json)


@attributes.command("read")
@PROJECT
@click.argument("names", nargs=-1, metavar="[NAME]...")
@CURATOR
@AS_JSON
def read(project: ProjectPlace, names: tuple[str, ...], *, curator: str, as_json: bool) -> None:
    """Read the attributes NAME that imported files have. Without NAME, list them.

    P gets the attributes and values that it lacks. What was set or cleared in P stays as it is.
    """
    with opened(project, curator=curator, read_only=not names) as found:
        if names:
            change = found.file_attributes.read(names)
            say_change(change, as_json=as_json, nothing="Nothing left to read.")
            return
        rows = found.file_attributes.found()
    result = [
        {"name": one.name, "values": dict(one.values), "known": one.known, "lacking": one.lacking, "unset": one.unset}
        for one in rows
    ]
    lines = [line for one in rows for line in _found_lines(one)]
    say({"attributes": result}, "\n".join(lines) or "The imported files have no attributes.", as_json=as_json)


def _found_lines(one: FileAttribute) -> list[str]:
    """An attribute's values in files, and those that the project lacks."""
    shown = sorted(one.values.items())
    words = ", ".join(f"{value} ({number:,})" for value, number in shown[:SHOWN_VALUES])
    more = f", and {len(shown) - SHOWN_VALUES:,} more values" if len(shown) > SHOWN_VALUES else ""
    lines = [f"{one.name}: {words}{more}"]
    if one.refusal:
        lines.append(f"  cannot be read: {one.refusal}")
    elif one.known and one.lacking:
        lines.append(f"  not a value of the project's attribute: {', '.join(one.lacking)}")
    elif not one.known:
        lines.append("  not an attribute of the project")
    return lines


@mention.command("set")
@PROJECT
@click.argument("setting", metavar="NAME=VALUE")
@click.argument("mentions", type=int, nargs=-1, required=True, metavar="MENTION...")
@IDENTICAL
@CURATOR
@AS_JSON
def set_attribute(
    project: ProjectPlace,
    setting: str,
    mentions: tuple[int, ...],
    *,
    identical: bool,
    scope: str,
    tick: tuple[int, ...],
    untick: tuple[int, ...],
    yes: bool,
    curator: str,
    as_json: bool,
) -> None:
    """Set an attribute of one or several mentions in one step, such as negation=negated.

    NAME= without a value clears it. Decisions about the link stay as they are.

    With --identical, the other mentions with the same text are listed in context, and --yes sets MENTION and the ticked
    ones.
    """
    if identical and len(mentions) > 1:
        raise click.UsageError("--identical takes one MENTION.")
    if not identical and (tick or untick or yes):
        raise click.UsageError("--tick, --untick and --yes require --identical.")
    name, sign, value = setting.partition("=")
    if not sign:
        raise UserError(f"“{setting}” is not a setting. Write NAME=VALUE, such as negation=negated, or NAME= to clear.")
    with opened(project, curator=curator, read_only=identical and not yes) as found:
        one = found.attributes.scheme().named(name)
        wanted = _value(one, value) if value.strip() else None
        if identical:
            others = found.propagation.others_for_value(mentions[0], one, wanted, scope=PropagationScope(scope))
            ticked = ticked_of(others, tick=tick, untick=untick)
            changes = [found.propagation.set_value(others, ticked, found.attributes)] if yes else []
            facts = {"attribute": one.name, "value": wanted.name if wanted else None}
            lines = listed_lines(others, ticked, to=f"{one.name}: {wanted.name}" if wanted else f"no {one.name}")
            lines.append(outcome_words(others, ticked, changes, yes=yes))
            result = {**listed_facts(others, ticked), **facts, "changes": [change_facts(each) for each in changes]}
            say(result, "\n".join(lines), as_json=as_json)
            return
        change = found.attributes.set(mentions, one.id, wanted.id if wanted is not None else None)
    say_change(change, as_json=as_json)


def _preset(name: str) -> tuple[str, ...]:
    found = next((one for one in PRESETS if same_name(one.name, name)), None)
    if found is None:
        names = ", ".join(one.name for one in PRESETS)
        raise UserError(f"“{name}” is not a preset ({names}). Give its values: `curator attributes add P NAME VALUE…`.")
    return found.values


def _value(one: Attribute, name: str) -> AttributeValue:
    found = one.named(name)
    if found is None:
        names = ", ".join(value.name for value in one.shown)
        raise UserError(f"The attribute “{one.name}” has no value “{name.strip()}”. Its values: {names}.")
    return found


def _deleted(every: Sequence[Attribute | AttributeValue], name: str) -> int:
    found = next((one.id for one in every if one.hidden and same_name(one.name, name)), None)
    if found is None:
        names = ", ".join(one.name for one in every if one.hidden) or "none"
        raise UserError(f"“{name}” is not deleted. Deleted here: {names}.")
    return found


def _save(project: Project, scheme: Scheme, *, as_json: bool) -> None:
    notes = project.attributes.notes(scheme)
    change = project.attributes.save(scheme)
    if change is None:
        say({"change": None}, "Nothing changed.", as_json=as_json)
    else:
        say({**change_facts(change), "notes": notes}, "\n".join([f"{change.text}.", *notes]), as_json=as_json)


def _facts(one: Attribute, uses: dict[int, int]) -> dict[str, Any]:
    values = [
        {"id": each.id, "name": each.name, "deleted": each.hidden, "mentions": uses.get(each.id, 0)}
        for each in one.values
    ]
    return {"id": one.id, "name": one.name, "types": list(one.types), "deleted": one.hidden, "values": values}


def _lines(one: Attribute, uses: dict[int, int]) -> list[str]:
    types = f" ({', '.join(one.types)})" if one.types else ""
    lines = [f"{one.name}{types}{' – deleted' if one.hidden else ''}"]
    for each in one.values:
        number = counted(uses.get(each.id, 0), "mention", "mentions")
        lines.append(f"  {each.name}: {number}{' – deleted' if each.hidden else ''}")
    return lines


# Relations between mentions, or between entities, of a document.

KINDS = {RelationKind.MENTIONS: "", RelationKind.ENTITIES: "entities: ", RelationKind.EVENT: "event: "}
"""The beginning of a relation's line."""


@click.command("relations")
@PROJECT
@click.option("--document", default="", metavar="ID", help="Of this document only.")
@click.option(
    "--add",
    "adds",
    nargs=3,
    multiple=True,
    metavar="A B TYPE",
    help="Add a relation of TYPE from mention A to mention B, both by number. Repeatable.",
)
@click.option("--entities", is_flag=True, help="Add it between the entities that the mentions are linked to.")
@click.option(
    "--delete", "deletes", multiple=True, metavar="NAME", help="Delete this relation of --document. Repeatable."
)
@CURATOR
@AS_JSON
def relations(
    project: ProjectPlace,
    *,
    document: str,
    adds: tuple[tuple[str, str, str], ...],
    entities: bool,
    deletes: tuple[str, ...],
    curator: str,
    as_json: bool,
) -> None:
    """List the relations of P, add some, and delete some.

    A relation holds between two mentions, or between two entities wherever the document mentions them. Each has a
    NAME, which the list shows in brackets.
    """
    if deletes and not document:
        raise click.UsageError("--delete needs --document: names are unique within a document.")
    if entities and not adds:
        raise click.UsageError("--entities goes with --add.")
    with opened(project, read_only=not (adds or deletes), curator=curator) as found:
        changes: list[Change] = []
        only = document_named(found, document) if document else None
        numbers = [(_number(one, only, found), _number(other, only, found), kind) for one, other, kind in adds]
        act = found.relations.add_between_entities if entities else found.relations.add
        changes += [act(one, other, kind) for one, other, kind in numbers]
        changes += [found.relations.delete(only, name) for name in deletes if only is not None]
        rows = list(_rows(found, only)) if only is not None or not changes else []
    lines = [f"{one.text}." for one in changes]
    lines += [_line(row, with_document=only is None) for row in rows]
    result = {"relations": rows} | ({"changes": [change_facts(one) for one in changes]} if changes else {})
    say(result, "\n".join(lines) or "No relations.", as_json=as_json)


def _number(text: str, document_id: int | None, project: Project) -> int:
    """The mention's number. Raises UserError if it is not a mention of the given document."""
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise UserError(f"{text} is not the number of a mention. `curator mention list P DOCUMENT` shows the numbers.")
    if document_id is not None and project.queue.document_of(int(text)) != document_id:
        raise UserError(f"Mention {text} is not in this document. `curator mention list P DOCUMENT` shows the numbers.")
    return int(text)


def _rows(project: Project, only: int | None) -> Iterator[dict[str, Any]]:
    found = project.relations.everywhere() if only is None else project.relations.with_names(only)
    for document in found:
        for one in document.relations:
            yield _row(document, one)


def _row(document: DocumentRelations, relation: Relation) -> dict[str, Any]:
    ends = [
        {"role": end.role, "mention": end.mention_id, "entity": end.entity_id or None, "text": document.words(end)}
        for end in relation.ends
    ]
    made = {"author": relation.author, "at": relation.at.isoformat()} if relation.at is not None else {}
    return {
        "document": document.external_id,
        "name": relation.name,
        "kind": relation.kind.value,
        "type": relation.type,
        "ends": ends,
        "note": relation.note,
        "added": not relation.source,
        **made,
    }


def _line(row: dict[str, Any], *, with_document: bool) -> str:
    kind = RelationKind(row["kind"])
    ends = [(f"{end['role']}: " if end["role"] else "") + end["text"] for end in row["ends"]]
    words = (" → " if kind is not RelationKind.EVENT else ", ").join(ends)
    where = f"{row['document']}  " if with_document else ""
    note = f" · {row['note']}" if row["note"] else ""
    return f"{where}{KINDS[kind]}{row['type']}  {words}{note}  [{row['name']}]"
