"""people, rounds, agreement."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import FILE, PROJECT, SPLIT, Result, command, counted, project_command
from curator.domain.documents import Split
from curator.domain.rounds import RoundKind

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.services.ports.address import ProjectPlace
    from curator.services.ports.storage import Person
    from curator.services.rounds.agreement import AgreementReport, AgreementRow

NAME = click.argument("name")
LOGIN = click.argument("login")
ROLE = click.Choice(["owner", "adjudicator", "curator", "reader"])


@click.group("people")
def people() -> None:
    """Manage who may do what in a shared project."""


@command("list", people)
@PROJECT
def list_people(project: ProjectPlace) -> Result:
    """List the logins that have a role in P."""
    from curator.bootstrap import roles

    found = roles(project).all()
    return Result({"people": [asdict(one) for one in found]}, map(_person_text, found))


@command("grant", people)
@PROJECT
@LOGIN
@click.argument("role", type=ROLE, metavar="ROLE")
@click.option("--name", default="", metavar="NAME", help="Name as which LOGIN decides. Default: as before, or LOGIN.")
def grant(project: ProjectPlace, login: str, role: str, *, name: str) -> Result:
    """Give LOGIN, a login of the server of P, a role.

    A reader only reads. A curator decides, edits mentions, comments, and judges in rounds. An adjudicator also imports,
    trains linkers and manages rounds. An owner also manages people and upgrades P.
    """
    from curator.bootstrap import roles
    from curator.services.ports.storage import Role

    made = roles(project).grant(login, Role(role), name=name)
    return Result(asdict(made), f"{_person_text(made)}.")


@command("revoke", people)
@PROJECT
@LOGIN
def revoke(project: ProjectPlace, login: str) -> Result:
    """Take the role of LOGIN in P away. What it decided stays."""
    from curator.bootstrap import roles

    gone = roles(project).revoke(login)
    return Result(asdict(gone), f"{gone.login} has no role any more.")


def _person_text(one: Person) -> str:
    return f"{one.login}: {one.role.value}" + (f", decides as “{one.name}”" if one.name != one.login else "")


@click.group("rounds")
def rounds() -> None:
    """Manage rounds, in which several curators decide the same documents independently."""


@project_command("list", rounds, read_only=True)
def list_rounds(project: Project) -> Result:
    """List the rounds of P with the progress of each curator."""
    rows = [(one, project.rounds.progress(one.id)) for one in project.rounds.all()]
    facts = [{**asdict(one), "progress": [asdict(each) for each in progress]} for one, progress in rows]
    lines = []
    for one, progress in rows:
        state = "closed" if one.closed else "open"
        judged = [
            f"{each.curator} {each.judged:,}/{each.mentions:,}"
            + (f" ({each.skipped:,} skipped)" if each.skipped else "")
            for each in progress
        ]
        documents = counted(one.documents, "document", "documents")
        lines.append(f"{one.name}: {one.kind.value}, {state}, {documents}; {', '.join(judged) or 'no judgements yet'}")
    return Result({"rounds": facts}, lines, "No rounds yet.")


@project_command("new", rounds, curator=True)
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
def new_round(
    project: Project, name: str, *, documents: int, split: str | None, seed: int, unaided: bool, consistency: bool
) -> Result:
    """Create the round NAME in P."""
    if unaided and consistency:
        raise click.UsageError("Choose either --unaided or --consistency.")
    kind = RoundKind.UNAIDED if unaided else RoundKind.CONSISTENCY if consistency else RoundKind.BLIND
    where = Split(split) if split else None
    ids = project.rounds.choose_documents(documents, split=where, seed=seed, decided=consistency)
    made = project.rounds.create(name, ids, kind=kind)
    number = counted(made.documents, "document", "documents")
    return Result(asdict(made), f"Created the round “{made.name}” with {number}.")


@project_command("close", rounds, curator=True)
@NAME
@click.option("--reopen", is_flag=True, help="Open a closed round again.")
def close_round(project: Project, name: str, *, reopen: bool) -> Result:
    """Close the round NAME of P. Curators can no longer decide in it."""
    one = project.rounds.named(name)
    change = project.rounds.reopen(one.id) if reopen else project.rounds.close(one.id)
    return Result({"text": change.text}, f"{change.text}.")


@project_command("export", rounds, read_only=True)
@NAME
@click.argument("out", type=FILE)
@click.option(
    "--by", "curators", multiple=True, metavar="NAME", help="Export only the judgements of this curator. Repeatable."
)
def export_round(project: Project, name: str, out: Path, *, curators: tuple[str, ...]) -> Result:
    """Export the round NAME of P to OUT.

    OUT contains the judgements of the round and the attributes that curators set, as JSON lines, without document
    texts.
    """
    report = project.round_files.export(name, out, curators=curators)
    text = (
        f"Wrote {counted(report.judgements, 'judgement', 'judgements')} on "
        f"{counted(report.documents, 'document', 'documents')} to {report.path}."
    )
    return Result(asdict(report), text)


@project_command("import", rounds, curator=True)
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="FILE...")
def import_rounds(project: Project, files: tuple[Path, ...]) -> Result:
    """Import the judgements and attributes of exported rounds into P. Rounds that do not exist in P are created."""
    reports = [project.round_files.read(one) for one in files]
    lines = [line for one in reports for line in (one.text, *one.problems)]
    return Result({"files": [asdict(one) for one in reports]}, lines)


@project_command("agreement", read_only=True)
@click.option("--round", "name", required=True, metavar="NAME", help="Name of the round.")
@click.option("--csv", "out", type=FILE, metavar="FILE", help="Write all rows to this CSV file.")
def agreement(project: Project, *, name: str, out: Path | None) -> Result:
    """Measure how well the curators of a round agree on links and spans: overall, by pair, by type and by document.

    Attributes that the curators set are compared too.
    """
    report = project.agreement.report(name)
    if out is not None:
        project.save_text(out, report.as_csv())
    return Result(asdict(report), _agreement_text(report))


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
