"""rounds, agreement, suspicious, audit, release."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import AS_JSON, CURATOR, PROJECT, SPLIT, counted, opened, run_job, say
from curator.domain.documents import Split
from curator.domain.rounds import RoundKind
from curator.services.records import ExportScope

if TYPE_CHECKING:
    from curator.services.rounds import AgreementReport, AgreementRow

OUT = click.argument("out", type=click.Path(path_type=Path))
NAME = click.argument("name")
SCOPE = click.Choice([one.value for one in ExportScope])
MOST_SUSPICIOUS = 20


@click.group("rounds")
def rounds() -> None:
    """Rounds, in which several curators judge the same documents apart."""


@rounds.command("list")
@PROJECT
@AS_JSON
def list_rounds(project: Path, *, as_json: bool) -> None:
    """List the rounds of P and how far each curator is."""
    with opened(project, read_only=True) as found:
        rows = [(one, found.rounds.progress(one.id)) for one in found.rounds.all()]
    result = {"rounds": [{**asdict(one), "progress": [asdict(each) for each in progress]} for one, progress in rows]}
    lines = []
    for one, progress in rows:
        state = "closed" if one.closed else "open"
        people = ", ".join(f"{each.curator} {each.judged:,}/{each.mentions:,}" for each in progress) or "nobody yet"
        lines.append(
            f"{one.name}: {one.kind.value}, {state}, {counted(one.documents, 'document', 'documents')}; {people}"
        )
    say(result, "\n".join(lines) or "There is no round yet.", as_json=as_json)


@rounds.command("new")
@PROJECT
@NAME
@click.option("--documents", type=click.IntRange(min=1), required=True, metavar="N", help="So many, drawn at random.")
@click.option("--split", type=SPLIT, help="Of this split only.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draw.")
@click.option("--unaided", is_flag=True, help="Without suggestions.")
@CURATOR
@AS_JSON
def new_round(
    project: Path,
    name: str,
    *,
    documents: int,
    split: str | None,
    seed: int,
    unaided: bool,
    curator: str,
    as_json: bool,
) -> None:
    """Make the round NAME of P."""
    kind = RoundKind.UNAIDED if unaided else RoundKind.BLIND
    with opened(project, curator=curator) as found:
        ids = found.rounds.choose_documents(documents, split=Split(split) if split else None, seed=seed)
        made = found.rounds.create(name, ids, kind=kind)
    say(
        asdict(made),
        f"Made the round “{made.name}” of {counted(made.documents, 'document', 'documents')}.",
        as_json=as_json,
    )


@rounds.command("close")
@PROJECT
@NAME
@click.option("--reopen", is_flag=True, help="Open a closed round again.")
@CURATOR
@AS_JSON
def close_round(project: Path, name: str, *, reopen: bool, curator: str, as_json: bool) -> None:
    """Close the round NAME of P: nobody judges in it any more."""
    with opened(project, curator=curator) as found:
        one = found.rounds.named(name)
        change = found.rounds.reopen(one.id) if reopen else found.rounds.close(one.id)
    say({"text": change.text}, f"{change.text}.", as_json=as_json)


@rounds.command("export")
@PROJECT
@NAME
@OUT
@click.option("--by", "curators", multiple=True, metavar="NAME", help="Only this curator's judgements; repeatable.")
@AS_JSON
def export_round(project: Path, name: str, out: Path, *, curators: tuple[str, ...], as_json: bool) -> None:
    """Write the round NAME of P with its judgements to OUT, as JSON lines without any text."""
    with opened(project, read_only=True) as found:
        report = found.round_files.export(name, out, curators=curators)
    text = (
        f"Wrote {counted(report.judgements, 'judgement', 'judgements')} on "
        f"{counted(report.documents, 'document', 'documents')} to {report.path}."
    )
    say(asdict(report), text, as_json=as_json)


@rounds.command("import")
@PROJECT
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="FILE...")
@CURATOR
@AS_JSON
def import_rounds(project: Path, files: tuple[Path, ...], *, curator: str, as_json: bool) -> None:
    """Take the judgements of exported rounds into P; a round that is not there is made."""
    with opened(project, curator=curator) as found:
        reports = [found.round_files.read(one) for one in files]
    lines = [line for one in reports for line in (one.text, *one.problems)]
    say({"files": [asdict(one) for one in reports]}, "\n".join(lines), as_json=as_json)


@click.command("agreement")
@PROJECT
@click.option("--round", "name", required=True, metavar="NAME", help="Which round.")
@click.option("--csv", "out", type=click.Path(path_type=Path), metavar="FILE", help="Write every row there.")
@AS_JSON
def agreement(project: Path, *, name: str, out: Path | None, as_json: bool) -> None:
    """Tell how far the curators of a round agree: over links and spans, in all, by pair, type and document."""
    with opened(project, read_only=True) as found:
        report = found.agreement.report(name)
        if out is not None:
            found.save_text(out, report.as_csv())
    say(asdict(report), _agreement_text(report), as_json=as_json)


@click.command("suspicious")
@PROJECT
@AS_JSON
def suspicious(project: Path, *, as_json: bool) -> None:
    """List decisions of P that models fitted on other documents find unlikely, the most suspicious first."""
    with opened(project) as found:
        outcome = run_job(lambda show, end: found.suspicious.start(on_progress=show, on_end=end))
    rows = outcome.result["rows"]
    lines = [
        f"{one['mention_id']}: {one['surface']}: {' + '.join(one['gold']) or 'NIL'} ({one['probability']:.2f}), "
        f"likelier {one['rival']} {one['rival_name']} ({one['rival_probability']:.2f})"
        for one in rows[:MOST_SUSPICIOUS]
    ]
    left = len(rows) - len(lines)
    more = [f"… and {left:,} more; --json shows all."] if left > 0 else []
    say(dict(outcome.result), "\n".join([outcome.message, *lines, *more]), as_json=as_json)


@click.command("audit")
@PROJECT
@OUT
@AS_JSON
def audit(project: Path, out: Path, *, as_json: bool) -> None:
    """Write every step of P to OUT: who, when, what was suggested and what it replaced; .csv or .jsonl."""
    with opened(project, read_only=True) as found:
        report = found.audit.export(out)
    text = (
        f"Wrote {counted(report.entries, 'entry', 'entries')} to {report.path}: "
        f"{counted(report.decisions, 'decision', 'decisions')}, "
        f"{counted(report.judgements, 'judgement', 'judgements')}, "
        f"{counted(report.operations, 'other step', 'other steps')}."
    )
    say(asdict(report), text, as_json=as_json)


@click.command("release")
@PROJECT
@OUT
@click.option("--scope", type=SCOPE, default="done", show_default=True, help="Which decisions are released.")
@AS_JSON
def release(project: Path, out: Path, *, scope: str, as_json: bool) -> None:
    """Write a release bundle of P to OUT: one file where the name ends in .zip, else a folder."""
    with opened(project, read_only=True) as found:
        report = found.release.export(out, scope=ExportScope(scope))
    text = (
        f"Released {counted(report.decisions, 'decision', 'decisions')} of "
        f"{counted(report.documents, 'document', 'documents')} to {report.path} "
        f"(SHA-256 {report.sha256})."
    )
    say(asdict(report), text, as_json=as_json)


def _agreement_text(report: AgreementReport) -> str:
    if not report.whole.items:
        return f"In “{report.round}” no mention was judged by two curators yet."
    lines = [f"“{report.round}” by {', '.join(report.curators)}", _row_text("all", report.whole)]
    lines += [_row_text(row.part, row) for row in (*report.pairs, *report.by_type)]
    return "\n".join(lines)


def _row_text(part: str, row: AgreementRow) -> str:
    between = f" ({row.interval.low:.3f} to {row.interval.high:.3f})" if row.interval else ""
    figures: dict[str, Any] = {
        "observed": row.observed,
        "kappa": row.cohen,
        "Fleiss": row.fleiss,
        "MASI": row.alpha_masi,
        "Jaccard": row.alpha_jaccard,
        "span F1": row.exact,
        "overlapping": row.overlap,
    }
    told = ", ".join(f"{name} {_figure(value)}" for name, value in figures.items())
    return f"{part}: {row.items:,} mentions, alpha {_figure(row.alpha)}{between}, {told}"


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
