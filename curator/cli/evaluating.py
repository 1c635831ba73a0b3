"""evaluate and stats: a linker on gold, against another or in a replay, and the figures of the dashboard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import FILE, PROJECT, SPLIT, Result, command, counted, opened, project_command, run_job
from curator.cli.linking import ACTORS, ON, index_if_missing, placed
from curator.domain.documents import Split
from curator.domain.jobs import JobOutcome
from curator.domain.same_string import NAME_CLASS_WORDS
from curator.domain.statistics import StatisticsFilter
from curator.domain.wording import UserError
from curator.services.ports.processes import Cluster
from curator.services.records.statistics import as_json as statistics_json
from curator.services.records.statistics import head_figures, plots
from curator.services.records.stored_evaluations import check_errors_name, errors_of, kind_lines
from curator.services.training.evaluation import EvaluationWish, ReplayWish, check_place, save_report, without_html

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.domain.statistics import Plot
    from curator.services.ports.address import ProjectPlace
    from curator.services.records.statistics import Statistics


NIL_FIGURES = (("precision", "precision"), ("recall", "recall"), ("F1", "f1"), ("auPR", "au_pr"))
MOST_FLIPS = 10


@command("evaluate")
@PROJECT
@click.option("--split", type=SPLIT, required=True, help="Split whose gold is used.")
@click.option("--linker", "linker_id", metavar="ID", help="Evaluate this linker instead of the one in use.")
@click.option(
    "--against", metavar="ID", help="Compare with this linker: differences, exact test, mentions that become wrong."
)
@click.option("--report", type=FILE, metavar="FILE.html", help="Write the full report to this file.")
@click.option(
    "--errors",
    "errors_out",
    type=FILE,
    metavar="FILE",
    help="Write every wrong answer to this file, .tsv or .json.",
)
@click.option("--no-memory", is_flag=True, help="Evaluate without the memory of the train decisions.")
@click.option(
    "--whole-kb",
    is_flag=True,
    help="Also link without restricting candidates to the mention's type. Always done for ZESHEL.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed of the confidence intervals."
)
@ON
@ACTORS
@click.option("--replay", is_flag=True, help="Simulate a curator who decides the gold, document by document.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="With --replay: stop after N decisions.")
@click.option("--then", type=SPLIT, help="With --replay: continue with this split.")
def evaluate(
    project: ProjectPlace,
    *,
    split: str,
    linker_id: str | None,
    against: str | None,
    report: Path | None,
    errors_out: Path | None,
    no_memory: bool,
    whole_kb: bool,
    seed: int,
    cluster: Cluster | None,
    actors: int | None,
    replay: bool,
    limit: int | None,
    then: str | None,
) -> Result:
    """Evaluate a linker on the link and NIL decisions in the done documents of a split.

    The result is stored in the project: the window lists the errors at any time.
    """
    cluster = placed(cluster, actors)
    wish: EvaluationWish | ReplayWish
    if replay:
        refused = (("--against", against), ("--whole-kb", whole_kb), ("--errors", errors_out), ("--on", cluster))
        _refuse("with --replay", *refused)
        wish = ReplayWish(Split(split), linker_id, Split(then) if then else None, limit, memory=not no_memory)
    else:
        _refuse("without --replay", ("--limit", limit), ("--then", then))
        whole = True if whole_kb else None
        wish = EvaluationWish(
            Split(split), linker_id, against, memory=not no_memory, whole_kb=whole, seed=seed, cluster=cluster
        )
    for file in (report, errors_out):
        if file is not None:
            check_place(file)
    if errors_out is not None:
        check_errors_name(errors_out.name)
    outcome = _run(project, wish)
    if report is not None:
        from curator.bootstrap import AtomicWriter

        save_report(outcome.result, report, AtomicWriter())
    text = replay_text(outcome.result) if replay else figures_text(outcome.result)
    where = f"\nReport written to {report}." if report is not None else ""
    if not replay and (wrong := _error_text(project, outcome.result, errors_out)):
        where = f"\n{wrong}{where}"
    return Result(without_html(outcome.result), text + where)


def _refuse(when: str, *given: tuple[str, object]) -> None:
    wrong = [name for name, value in given if value]
    if wrong:
        raise click.UsageError(f"{' and '.join(wrong)} cannot be given {when}.")


def _run(path: ProjectPlace, wish: EvaluationWish | ReplayWish) -> JobOutcome:
    if wish.bundle is None:
        with opened(path, read_only=True) as found:
            found.evaluation.require_gold(wish.split)
        index_if_missing(path, lexical=False)
    with opened(path, read_only=True) as found:
        if isinstance(wish, EvaluationWish):
            found.suggestions.check(wish.cluster)
        return _job(found, wish)


def _job(project: Project, wish: EvaluationWish | ReplayWish) -> JobOutcome:
    service = project.evaluation
    if isinstance(wish, ReplayWish):
        return run_job(lambda show, end: service.replay(wish, on_progress=show, on_end=end))
    return run_job(lambda show, end: service.start(wish, on_progress=show, on_end=end))


def figures_text(result: Mapping[str, Any]) -> str:
    """The figures of an evaluation as lines."""
    recall, nil = result.get("recall", {}), result.get("nil", {})
    lines = [
        f"mentions {result.get('mentions', 0):,}, in the knowledge base {result.get('in_kb', 0):,}, "
        f"NIL {result.get('nil_mentions', 0):,}",
        "recall " + ", ".join(f"@{k} {100 * value:.1f} %" for k, value in recall.items()),
        "NIL " + ", ".join(f"{name} {_percent(nil.get(key))}" for name, key in NIL_FIGURES),
    ]
    slices, k = result.get("slices", {}), result.get("k")
    lines += [
        f"words of the mention, {words}: {_of_slice(slices[words], k)}"
        for words in NAME_CLASS_WORDS.values()
        if words in slices
    ]
    figures = result.get("figures", {})
    lines += [_line(name, one) for name, one in figures.items() if not _is_plain(name) and one["value"] is not None]
    lines += [
        f"{name}: {one['value']:.3f}" for name, one in figures.items() if _is_plain(name) and one["value"] is not None
    ]
    lines += [f"linker: {sentence}" for sentence in result.get("linker", ())]
    return "\n".join([*lines, *_against_lines(result.get("against"))])


def _of_slice(part: Mapping[str, Any], k: int | None) -> str:
    """A class of mentions, whose entities are all in the knowledge base."""
    recall = f"recall@1 {_percent(part['recall_at_1'])}, @{k} {_percent(part['recall_at_k'])}"
    return f"{counted(part['mentions'], 'mention', 'mentions')}, {recall}"


def _line(name: str, one: Mapping[str, Any]) -> str:
    between = f" ({100 * one['low']:.1f} to {100 * one['high']:.1f})" if one["low"] is not None else ""
    return f"{name}: {100 * one['value']:.1f} %{between}"


def _against_lines(against: Mapping[str, Any] | None) -> list[str]:
    if against is None:
        return []
    tests, flips = against["decisions"], against["flips"]
    lines = [
        f"against {against['bundle']}: {tests['only_this']:,} right only with this linker, "
        f"{tests['only_other']:,} right only with the other, "
        f"p {tests['p_value']:.4f} (McNemar, exact)"
    ]
    for name in ("recall@1", "NIL F1", "right in all, NIL included"):
        apart = against["figures"][name]["difference"]
        if apart["value"] is not None:
            lines.append(f"  {name}: {_points(apart)}")
    lost = [one for one in flips if one["direction"] == "right_to_wrong"]
    lines += [
        f"  becomes wrong: {one['surface']} ({one['document_name']}): {one['old']} → {one['new']}"
        for one in lost[:MOST_FLIPS]
    ]
    return lines


def _points(apart: Mapping[str, Any]) -> str:
    between = f" ({100 * apart['low']:+.1f} to {100 * apart['high']:+.1f})" if apart["low"] is not None else ""
    return f"{100 * apart['value']:+.1f} points{between}"


def replay_text(result: Mapping[str, Any]) -> str:
    """The message, then the figures of all decisions and of the last ones."""
    every, last = result["replay"]["every"], result["replay"]["last"]
    rows = [
        f"{name}: recall@1 {_percent(one['recall_at_1'])}, with Enter alone {_percent(1 - one['more_keys'])}, "
        f"with Enter or a digit {_percent(1 - one['more_than_digit'])}, NIL F1 {_percent(one['nil_f1'])}"
        for name, one in ((f"all {every['decisions']:,}", every), (f"last {last['decisions']:,}", last))
    ]
    return "\n".join([str(result["message"]), *rows])


def _is_plain(name: str) -> bool:
    """Whether the figure is shown as a plain number, not as a percentage."""
    return name.startswith(("ECE", "Brier,", "risk-coverage"))


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{100 * value:.1f} %"


def _error_text(project: ProjectPlace, result: Mapping[str, Any], out: Path | None) -> str:
    """The table of kinds, and the location of the list, which is written to `out`."""
    found = errors_of(result)
    lines = kind_lines(found, mentions=int(result.get("mentions", 0))) if "errors" in result else []
    if result.get("stored"):
        lines.append(f"Stored as {result['stored']}; Model › Errors of an evaluation… lists the errors.")
    elif result.get("not_stored"):
        lines.append(str(result["not_stored"]))
    if out is not None:
        with opened(project, read_only=True) as here:
            here.evaluations.write(found, out)
        lines.append(f"{counted(len(found.rows), 'error', 'errors')} written to {out}.")
    return "\n".join(lines)


# stats: the figures of the dashboard.

DAY = click.DateTime(formats=["%Y-%m-%d"])


@project_command("stats", read_only=True)
@click.option(
    "--curator",
    "by",
    default="",
    metavar="NAME",
    help="Only decisions of this curator; `import` stands for imported gold.",
)
@click.option("--split", type=SPLIT, help="Only documents of this split.")
@click.option("--since", type=DAY, metavar="YYYY-MM-DD", help="Only decisions from this day on.")
@click.option("--until", type=DAY, metavar="YYYY-MM-DD", help="Only decisions up to this day, inclusive.")
@click.option("--plot", "only", metavar="ID", help="Print the data of one plot as CSV.")
def stats(
    project: Project,
    *,
    by: str,
    split: str | None,
    since: datetime | None,
    until: datetime | None,
    only: str | None,
) -> Result:
    """Show the figures of the dashboard: progress, speed, keys, accepted suggestions, NIL, linkers, agreement."""
    where = StatisticsFilter(
        by, Split(split) if split else None, since.date() if since else None, until.date() if until else None
    )
    statistics = project.statistics.read()
    if only is not None:
        plot = _plot(plots(statistics, where), only)
        return Result({"plot": plot.id, "csv": plot.csv()}, plot.csv().rstrip("\r\n"))
    return Result(statistics_json(statistics, where), lines(statistics, where))


def lines(statistics: Statistics, where: StatisticsFilter) -> Iterator[str]:
    """The main figures with their explanations, then a summary of each plot."""
    for one in head_figures(statistics, where):
        yield f"{one.title:<26} {one.words:>9}   {one.hint}"
    yield ""
    for plot in plots(statistics, where):
        yield f"{plot.id:<12} {plot.summary}"


def _plot(found: tuple[Plot, ...], wanted: str) -> Plot:
    for one in found:
        if one.id == wanted:
            return one
    raise UserError(f"Plot {wanted} was not found. The plots are {', '.join(one.id for one in found)}.")
