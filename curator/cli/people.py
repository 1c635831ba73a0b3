"""people, rounds, agreement, suspicious, inconsistencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import AS_JSON, CURATOR, PROJECT, SPLIT, FilePath, counted, opened, run_job, say, say_change
from curator.cli.deciding import verdict_given
from curator.domain.audit import Inconsistencies, Inconsistency, InconsistencyKind
from curator.domain.decisions import NilReason
from curator.domain.documents import Split
from curator.domain.rounds import RoundKind
from curator.domain.wording import UserError
from curator.services.records.inconsistencies import decided_words

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.services.ports.address import ProjectPlace
    from curator.services.ports.storage import Person
    from curator.services.rounds.agreement import AgreementReport, AgreementRow

OUT = click.argument("out", type=FilePath(path_type=Path))
NAME = click.argument("name")
MOST_SUSPICIOUS = 20
KIND = click.Choice([one.value for one in InconsistencyKind])


LOGIN = click.argument("login")
ROLE = click.Choice(["owner", "adjudicator", "curator", "reader"])


@click.group("people")
def people() -> None:
    """Manage who may do what in a shared project."""


@people.command("list")
@PROJECT
@AS_JSON
def list_people(project: ProjectPlace, *, as_json: bool) -> None:
    """List the logins that have a role in P."""
    from curator.bootstrap import roles

    found = roles(project).all()
    lines = [_person_text(one) for one in found]
    say({"people": [asdict(one) for one in found]}, "\n".join(lines), as_json=as_json)


@people.command("grant")
@PROJECT
@LOGIN
@click.argument("role", type=ROLE, metavar="ROLE")
@click.option("--name", default="", metavar="NAME", help="Name as which LOGIN decides. Default: as before, or LOGIN.")
@AS_JSON
def grant(project: ProjectPlace, login: str, role: str, *, name: str, as_json: bool) -> None:
    """Give LOGIN, a login of the server of P, a role.

    A reader only reads. A curator decides, edits mentions, comments, and judges in rounds. An adjudicator also imports,
    trains linkers and manages rounds. An owner also manages people and upgrades P.
    """
    from curator.bootstrap import roles
    from curator.services.ports.storage import Role

    made = roles(project).grant(login, Role(role), name=name)
    say(asdict(made), f"{_person_text(made)}.", as_json=as_json)


@people.command("revoke")
@PROJECT
@LOGIN
@AS_JSON
def revoke(project: ProjectPlace, login: str, *, as_json: bool) -> None:
    """Take the role of LOGIN in P away. What it decided stays."""
    from curator.bootstrap import roles

    gone = roles(project).revoke(login)
    say(asdict(gone), f"{gone.login} has no role any more.", as_json=as_json)


def _person_text(one: Person) -> str:
    return f"{one.login}: {one.role.value}" + (f", decides as “{one.name}”" if one.name != one.login else "")


@click.group("rounds")
def rounds() -> None:
    """Manage rounds, in which several curators decide the same documents independently."""


@rounds.command("list")
@PROJECT
@AS_JSON
def list_rounds(project: ProjectPlace, *, as_json: bool) -> None:
    """List the rounds of P with the progress of each curator."""
    with opened(project, read_only=True) as found:
        rows = [(one, found.rounds.progress(one.id)) for one in found.rounds.all()]
    result = {"rounds": [{**asdict(one), "progress": [asdict(each) for each in progress]} for one, progress in rows]}
    lines = []
    for one, progress in rows:
        state = "closed" if one.closed else "open"
        people = (
            ", ".join(
                f"{each.curator} {each.judged:,}/{each.mentions:,}"
                + (f" ({each.skipped:,} skipped)" if each.skipped else "")
                for each in progress
            )
            or "no judgements yet"
        )
        lines.append(
            f"{one.name}: {one.kind.value}, {state}, {counted(one.documents, 'document', 'documents')}; {people}"
        )
    say(result, "\n".join(lines) or "No rounds yet.", as_json=as_json)


@rounds.command("new")
@PROJECT
@NAME
@click.option(
    "--documents", type=click.IntRange(min=1), required=True, metavar="N", help="Number of documents, drawn at random."
)
@click.option("--split", type=SPLIT, help="Draw only from this split.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed of the draw.")
@click.option("--unaided", is_flag=True, help="Show no suggestions in this round.")
@click.option(
    "--consistency",
    is_flag=True,
    help="Measure your own consistency: draw from documents in which you decided something at least a day ago.",
)
@CURATOR
@AS_JSON
def new_round(
    project: ProjectPlace,
    name: str,
    *,
    documents: int,
    split: str | None,
    seed: int,
    unaided: bool,
    consistency: bool,
    curator: str,
    as_json: bool,
) -> None:
    """Create the round NAME in P."""
    if unaided and consistency:
        raise click.UsageError("Choose either --unaided or --consistency.")
    kind = RoundKind.UNAIDED if unaided else RoundKind.CONSISTENCY if consistency else RoundKind.BLIND
    with opened(project, curator=curator) as found:
        ids = found.rounds.choose_documents(
            documents, split=Split(split) if split else None, seed=seed, decided=consistency
        )
        made = found.rounds.create(name, ids, kind=kind)
    say(
        asdict(made),
        f"Created the round “{made.name}” with {counted(made.documents, 'document', 'documents')}.",
        as_json=as_json,
    )


@rounds.command("close")
@PROJECT
@NAME
@click.option("--reopen", is_flag=True, help="Open a closed round again.")
@CURATOR
@AS_JSON
def close_round(project: ProjectPlace, name: str, *, reopen: bool, curator: str, as_json: bool) -> None:
    """Close the round NAME of P. Curators can no longer decide in it."""
    with opened(project, curator=curator) as found:
        one = found.rounds.named(name)
        change = found.rounds.reopen(one.id) if reopen else found.rounds.close(one.id)
    say({"text": change.text}, f"{change.text}.", as_json=as_json)


@rounds.command("export")
@PROJECT
@NAME
@OUT
@click.option(
    "--by", "curators", multiple=True, metavar="NAME", help="Export only the judgements of this curator. Repeatable."
)
@AS_JSON
def export_round(project: ProjectPlace, name: str, out: Path, *, curators: tuple[str, ...], as_json: bool) -> None:
    """Export the round NAME of P to OUT.

    OUT contains the judgements of the round and the attributes that curators set, as JSON lines, without document
    texts.
    """
    with opened(project, read_only=True) as found:
        report = found.round_files.export(name, out, curators=curators)
    text = (
        f"Wrote {counted(report.judgements, 'judgement', 'judgements')} on "
        f"{counted(report.documents, 'document', 'documents')} to {report.path}."
    )
    say(asdict(report), text, as_json=as_json)


@rounds.command("import")
@PROJECT
@click.argument("files", type=FilePath(path_type=Path), nargs=-1, required=True, metavar="FILE...")
@CURATOR
@AS_JSON
def import_rounds(project: ProjectPlace, files: tuple[Path, ...], *, curator: str, as_json: bool) -> None:
    """Import the judgements and attributes of exported rounds into P. Rounds that do not exist in P are created."""
    with opened(project, curator=curator) as found:
        reports = [found.round_files.read(one) for one in files]
    lines = [line for one in reports for line in (one.text, *one.problems)]
    say({"files": [asdict(one) for one in reports]}, "\n".join(lines), as_json=as_json)


@click.command("agreement")
@PROJECT
@click.option("--round", "name", required=True, metavar="NAME", help="Name of the round.")
@click.option("--csv", "out", type=FilePath(path_type=Path), metavar="FILE", help="Write all rows to this CSV file.")
@AS_JSON
def agreement(project: ProjectPlace, *, name: str, out: Path | None, as_json: bool) -> None:
    """Measure how well the curators of a round agree on links and spans: overall, by pair, by type and by document.

    Attributes that the curators set are compared too.
    """
    with opened(project, read_only=True) as found:
        report = found.agreement.report(name)
        if out is not None:
            found.save_text(out, report.as_csv())
    say(asdict(report), _agreement_text(report), as_json=as_json)


@click.command("suspicious")
@PROJECT
@AS_JSON
def suspicious(project: ProjectPlace, *, as_json: bool) -> None:
    """List decisions of P that may be wrong, the most suspicious first.

    A decision is suspicious if a model trained on other documents finds it unlikely.
    """
    with opened(project) as found:
        outcome = run_job(lambda show, end: found.suspicious.start(on_progress=show, on_end=end))
    rows = outcome.result["rows"]
    lines = [
        f"{one['mention_id']}: {one['surface']}: {' + '.join(one['gold']) or 'NIL'} ({one['probability']:.2f}), "
        f"more likely {one['rival']} {one['rival_name']} ({one['rival_probability']:.2f})"
        for one in rows[:MOST_SUSPICIOUS]
    ]
    left = len(rows) - len(lines)
    more = [f"… and {left:,} more; --json shows all."] if left > 0 else []
    say(dict(outcome.result), "\n".join([outcome.message, *lines, *more]), as_json=as_json)


@click.command("inconsistencies")
@PROJECT
@click.option("--kind", type=KIND, help="List only this kind.")
@click.option("--intended", is_flag=True, help="List those that were marked as intended instead of the others.")
@click.option("--mark", type=int, metavar="MENTION", help="Mark the inconsistency of this mention as intended.")
@click.option("--unmark", type=int, metavar="MENTION", help="List the inconsistency of this mention again.")
@click.option(
    "--settle",
    "settled",
    type=int,
    multiple=True,
    metavar="MENTION",
    help="Change the decision about this mention of an inconsistency, with --link or --nil. Repeatable.",
)
@click.option("--link", "links", multiple=True, metavar="ID", help="With --settle: link to this entity. Repeatable.")
@click.option("--nil", type=click.Choice([one.value for one in NilReason]), help="With --settle: NIL, for this reason.")
@CURATOR
@AS_JSON
def inconsistencies(
    project: ProjectPlace,
    *,
    kind: str | None,
    intended: bool,
    mark: int | None,
    unmark: int | None,
    settled: tuple[int, ...],
    links: tuple[str, ...],
    nil: str | None,
    curator: str,
    as_json: bool,
) -> None:
    """List decisions of P that contradict each other, mark one as intended, or settle one.

    The kinds are document (one string is linked to different entities in one document), hierarchy (the same, and one
    of the entities is broader than another), obsolete (the entity is obsolete or no longer in the knowledge base), nil
    (one string is linked in one place and NIL in another) and project (one string is linked to different entities in
    different documents).

    MENTION is the number of one of the mentions, as --json shows them. If it is in several inconsistencies, --kind says
    which one is meant; without it, it is the first of the list. --settle changes several decisions as one step.
    """
    asked = sum([mark is not None, unmark is not None, bool(settled)])
    if asked > 1:
        raise click.UsageError("Give one of --mark, --unmark and --settle.")
    if bool(settled) != (bool(links) != (nil is not None)):
        raise click.UsageError("--settle goes with either --link or --nil.")
    if asked:
        chosen = InconsistencyKind(kind) if kind else None
        with opened(project, curator=curator) as found:
            if settled:
                row = _inconsistency_of(found, settled, kind=chosen, intended=None)
                change = found.inconsistencies.settle(row, settled, verdict_given(found, links, nil, None, None))
            else:
                numbers = [one for one in (mark, unmark) if one is not None]
                row = _inconsistency_of(found, numbers, kind=chosen, intended=mark is None)
                change = found.inconsistencies.mark(row, intended=mark is not None)
        say_change(change, as_json=as_json)
        return
    with opened(project, read_only=True) as found:
        every = found.inconsistencies.find()
    rows = every.chosen(kind=InconsistencyKind(kind) if kind else None, intended=intended)
    lines = [counted(len(rows), "inconsistency", "inconsistencies") + ("." if not rows else ":")]
    lines += [_inconsistency_text(one, every) for one in rows]
    say({"inconsistencies": [_inconsistency(one, every) for one in rows]}, "\n".join(lines), as_json=as_json)


def _inconsistency_of(
    project: Project, mention_ids: Sequence[int], *, kind: InconsistencyKind | None, intended: bool | None
) -> Inconsistency:
    """The first listed inconsistency with all these mentions; `intended` None: marked or not. Raises UserError if there
    is none."""
    wanted = set(mention_ids)
    for one in project.inconsistencies.find().rows:
        fits = (kind is None or one.kind is kind) and intended in (None, one.intended)
        if fits and wanted <= {place.mention_id for place in one.places}:
            return one
    numbers = ", ".join(str(one) for one in mention_ids)
    state = {True: " that is marked as intended", False: " that is not marked as intended", None: ""}[intended]
    raise UserError(
        f"No inconsistency{state} has mention {numbers}; nothing was changed. "
        "`curator inconsistencies P --json` lists the mentions of each."
    )


def _inconsistency(one: Inconsistency, every: Inconsistencies) -> dict[str, Any]:
    """An inconsistency as JSON; an empty list of entities is NIL."""
    return {
        "kind": one.kind.value,
        "string": one.text,
        "type": one.type,
        "document": one.external_id or None,
        "intended": one.intended,
        "decisions": [
            {
                "entities": list(way.way),
                "names": [every.names.get(id_, "") for id_ in way.way],
                "number": len(way.places),
                "mentions": [
                    {"mention": place.mention_id, "document": place.external_id, "curator": place.curator}
                    for place in way.places
                ],
            }
            for way in one.ways
        ],
        "replacements": [{"id": entity.id, "name": entity.name} for entity in one.replacements],
    }


def _inconsistency_text(one: Inconsistency, every: Inconsistencies) -> str:
    names = dict(every.names)
    ways = "; ".join(f"{decided_words(way.verdict, names)} ({len(way.places):,})" for way in one.ways)
    where = f" in {one.external_id}" if one.external_id else ""
    instead = " or ".join(f"{entity.id} {entity.name}" for entity in one.replacements)
    return f"{one.kind.value}: “{one.text}”{where}: {ways}" + (f"; replace by {instead}" if instead else "")


def _agreement_text(report: AgreementReport) -> str:
    if not report.whole.items and not report.by_attribute:
        return f"No mention in “{report.round}” was judged by two curators yet."
    lines = [f"“{report.round}” by {', '.join(report.curators)}", _row_text("all", report.whole)]
    lines += [_row_text(row.part, row) for row in (*report.pairs, *report.by_type)]
    lines += [_row_text(row.part, row, spans=False) for row in report.by_attribute]
    return "\n".join(lines)


def _row_text(part: str, row: AgreementRow, *, spans: bool = True) -> str:
    between = f" ({row.interval.low:.3f} to {row.interval.high:.3f})" if row.interval else ""
    figures: dict[str, Any] = {
        "observed": row.observed,
        "kappa": row.cohen,
        "Fleiss": row.fleiss,
    }
    figures |= (
        {}
        if not spans
        else {
            "MASI": row.alpha_masi,
            "Jaccard": row.alpha_jaccard,
            "span F1": row.exact,
            "overlapping": row.overlap,
        }
    )
    listed = ", ".join(f"{name} {_figure(value)}" for name, value in figures.items())
    return f"{part}: {row.items:,} mentions, alpha {_figure(row.alpha)}{between}, {listed}"


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
