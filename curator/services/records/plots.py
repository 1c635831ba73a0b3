"""Plots of curators' work: progress, accepted suggestions, the hold-out and NIL."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import accumulate

from curator.domain.decisions import DECIDING, KEPT_BACK_OTHER, KEPT_BACK_SAME, Outcome
from curator.domain.documents import DocumentState
from curator.domain.facets import UNDECIDED
from curator.domain.jobs import BundleInfo, GateVerdict
from curator.domain.statistics import (
    IMPORTED,
    Counts,
    DecidedCell,
    EffortCell,
    Headline,
    Plot,
    Series,
    Shape,
    StatisticsFilter,
    Unit,
    shares,
)
from curator.domain.wording import localised, ntr, percent, tr
from curator.services.rounds.agreement import ALL, AgreementRow, ConsistencyRow
from curator.services.training.bundle_metrics import learning_points, metric

LISTED = 9
"""The highest rank shown separately: those chosen with digit keys."""
STATES = {"": UNDECIDED, **{one.value: one.words for one in Outcome if one is not Outcome.CLEARED}}
ANSWERS = (Outcome.LINK.value, Outcome.NIL.value)


def work_plots(counts: Counts) -> tuple[Plot, ...]:
    people = [one for one in counts.decided if one.curator != IMPORTED]
    return (
        mentions_plot(counts),
        documents_plot(counts),
        progress_plot(counts.decided),
        speed_plot(counts.efforts),
        pace_plot(counts.efforts),
        keys_plot(counts.efforts),
        ranks_plot(people),
        accepted_plot(people),
        holdout_plot(people),
        nil_plot(counts.decided),
    )


def headlines(counts: Counts) -> tuple[Headline, ...]:
    people = [one for one in counts.decided if one.curator != IMPORTED]
    decided, whole = _decided(counts)
    efforts, cost = counts.efforts, Cost.of(counts.efforts)
    first, seen = _accepted(people)
    nil, answers = _nil(counts.decided)
    same, held = _held_out(people)
    return (
        _share("decided", tr("Mentions decided"), decided, whole),
        Headline(
            "pace", tr("Decisions per hour"), Unit.PER_HOUR.words(cost.per_hour), cost.per_hour, hours_words(efforts)
        ),
        Headline(
            "seconds", tr("Seconds per decision"), Unit.SECONDS.words(cost.seconds), cost.seconds, taken_words(cost)
        ),
        Headline("keys", tr("Keys per decision"), Unit.KEYS.words(cost.keys), cost.keys, taken_words(cost)),
        _share("accepted", tr("First suggestion accepted"), first, seen),
        _share("held_out", tr("First suggestion right, unseen"), same, held),
        _share("nil", tr("NIL among answers"), nil, answers),
    )


# --- progress ---


def mentions_plot(counts: Counts) -> Plot:
    states = _states(counts)
    decided, whole = _decided(counts)
    words = (
        tr("{decided:,} of {whole:,} mentions are decided.", decided=decided, whole=whole)
        if whole
        else tr("The project has no mentions yet.")
    )
    values = tuple(float(states[key]) for key in STATES)
    return Plot(
        "mentions",
        tr("Mentions now"),
        words,
        tr("State"),
        tuple(tr(STATES[one]) for one in STATES),
        (Series(tr("Mentions"), values if whole else (None,) * len(STATES)),),
        Unit.COUNT,
        Shape.BARS,
        note=tr("The curator and time filters do not apply to the current state; the split filter does."),
    )


def documents_plot(counts: Counts) -> Plot:
    found: Counter[DocumentState] = Counter()
    for one in counts.documents:
        found[one.state] += one.documents
    whole = sum(found.values())
    words = (
        tr("{found:,} of {whole:,} documents are done.", found=found[DocumentState.DONE], whole=whole)
        if whole
        else tr("The project has no documents.")
    )
    values = tuple(float(found[state]) if whole else None for state in DocumentState)
    return Plot(
        "documents",
        tr("Documents now"),
        words,
        tr("State"),
        tuple(tr(one.words) for one in DocumentState),
        (Series(tr("Documents"), values),),
        Unit.COUNT,
        Shape.BARS,
        note=tr("The curator and time filters do not apply to the current state; the split filter does."),
    )


def progress_plot(cells: Sequence[DecidedCell]) -> Plot:
    cells = [one for one in cells if one.outcome in DECIDING]
    axis, begin, places = periods(one.day for one in cells)
    series = []
    for outcome in DECIDING:
        found = _sums([one for one in cells if one.outcome == outcome], begin, lambda one: one.number)
        values = tuple(float(one) for one in accumulate(found[place] for place in places))
        series.append(Series(tr(STATES[outcome]), values, role=outcome))
    whole = sum(one.number for one in cells)
    days = len({one.day for one in cells})
    words = (
        ntr(
            "{decisions}, made on one day.",
            "{decisions}, made on {n:,} days.",
            days,
            decisions=ntr("{n} decision", "{n:,} decisions", whole),
        )
        if whole
        else tr("Nothing has been decided yet.")
    )
    return Plot(
        "progress",
        tr("Decided so far"),
        words,
        axis,
        places,
        tuple(series),
        Unit.COUNT,
        timed=True,
        note=tr("Each mention counts from the day of its current decision; imported decisions are included."),
    )


# --- suggestions ---


def ranks_plot(people: Sequence[DecidedCell]) -> Plot:
    """The ranks of decisions in the list."""
    found: Counter[int | None] = Counter()
    for one in people:
        if one.outcome in ANSWERS:
            found[one.rank] += one.number
    listed = {rank: number for rank, number in found.items() if rank is not None and rank >= 0}
    whole = sum(listed.values()) + found[None]
    numbers = [listed.get(rank, 0) for rank in range(1, LISTED + 1)]
    numbers += [sum(number for rank, number in listed.items() if rank > LISTED), listed.get(0, 0), found[None]]
    places = (
        tr("1 (Enter)"),
        *(str(rank) for rank in range(2, LISTED + 1)),
        tr("lower"),
        tr("not listed"),
        tr("nothing shown"),
    )
    seen = sum(listed.values())
    words = tr("Nothing has been decided with suggestions shown yet.")
    if seen:
        words = tr(
            "Of {seen:,} answers with suggestions shown, {percent} accepted the first and {percent2} "
            "one of the first nine; {percent3} were not listed.",
            seen=seen,
            percent=percent(listed.get(1, 0) / seen),
            percent2=percent(sum(numbers[:LISTED]) / seen),
            percent3=percent(listed.get(0, 0) / seen),
        )
    return Plot(
        "ranks",
        tr("Accepted suggestions by rank"),
        words,
        tr("Rank"),
        places,
        (shares(tr("Share of answers"), [(one, whole) for one in numbers]),),
        Unit.SHARE,
        Shape.BARS,
        note=tr(
            "Current links and NIL decisions made by people. Rank 1 is what Enter accepts, whether an entity or NIL."
        ),
    )


def accepted_plot(people: Sequence[DecidedCell]) -> Plot:
    seen = [one for one in people if one.rank is not None and one.rank >= 0]
    axis, begin, places = periods(one.day for one in seen)
    first = _sums(seen, begin, lambda one: one.number if one.rank == 1 else 0)
    every = _sums(seen, begin, lambda one: one.number)
    took, whole = _accepted(people)
    words = (
        tr("{took:,} of {whole:,} answers accepted the first suggestion.", took=took, whole=whole)
        if whole
        else tr("No suggestion has been shown yet.")
    )
    series = shares(tr("First suggestion accepted"), [(first[place], every[place]) for place in places])
    return Plot("accepted", tr("First suggestion accepted"), words, axis, places, (series,), Unit.SHARE, timed=True)


def holdout_plot(people: Sequence[DecidedCell]) -> Plot:
    (same, held), (first, seen) = _held_out(people), _accepted(people)
    words = tr(
        "No mention has been decided without suggestions yet. The settings say for how many mentions "
        "suggestions are held back."
    )
    if held:
        words = tr(
            "Without seeing it, people agreed with the first suggestion in {percent} of {held:,} cases",
            percent=percent(same / held),
            held=held,
        )
        words += (
            tr("; when it was shown, in {percent} of {seen:,}.", percent=percent(first / seen), seen=seen)
            if seen
            else "."
        )
    series = shares(tr("Same as the first suggestion"), [(same, held), (first, seen)])
    return Plot(
        "holdout",
        tr("Suggestions hidden and shown"),
        words,
        tr("Suggestions"),
        (tr("not shown"), tr("shown")),
        (series,),
        Unit.SHARE,
        Shape.BARS,
        note=tr(
            "The first bar is the linker's accuracy without influence. How much higher the second bar "
            "is shows how much suggestions influence people, apart from chance and from differences in "
            "difficulty between the mentions.",
        ),
    )


def nil_plot(cells: Sequence[DecidedCell]) -> Plot:
    answers = [one for one in cells if one.outcome in ANSWERS]
    axis, begin, places = periods(one.day for one in answers)
    nil = _sums(answers, begin, lambda one: one.number if one.outcome == Outcome.NIL.value else 0)
    every = _sums(answers, begin, lambda one: one.number)
    found, whole = _nil(cells)
    words = (
        tr("{found:,} of {whole:,} answers are NIL.", found=found, whole=whole)
        if whole
        else tr("There are no answers yet.")
    )
    series = shares("NIL", [(nil[place], every[place]) for place in places], role=Outcome.NIL.value)
    return Plot("nil", tr("NIL among answers"), words, axis, places, (series,), Unit.SHARE, timed=True)


# --- inside ---


def _states(counts: Counts) -> Counter[str]:
    found: Counter[str] = Counter()
    for cell in counts.documents:
        for state, number in cell.mentions:
            found[state] += number
    return found


def _decided(counts: Counts) -> tuple[int, int]:
    """(decided mentions, all mentions)."""
    states = _states(counts)
    return sum(states[one] for one in DECIDING), sum(states.values())


def _sums(
    cells: Iterable[DecidedCell], begin: Callable[..., str], number: Callable[[DecidedCell], int]
) -> Counter[str]:
    found: Counter[str] = Counter()
    for one in cells:
        found[begin(one.day)] += number(one)
    return found


def _accepted(people: Iterable[DecidedCell]) -> tuple[int, int]:
    """(accepted the first, all with visible suggestions)."""
    seen = [one for one in people if one.rank is not None and one.rank >= 0]
    return sum(one.number for one in seen if one.rank == 1), sum(one.number for one in seen)


def _held_out(people: Iterable[DecidedCell]) -> tuple[int, int]:
    held = [one for one in people if one.rank in (KEPT_BACK_SAME, KEPT_BACK_OTHER)]
    return sum(one.number for one in held if one.rank == KEPT_BACK_SAME), sum(one.number for one in held)


def _nil(cells: Iterable[DecidedCell]) -> tuple[int, int]:
    answers = [one for one in cells if one.outcome in ANSWERS]
    nil = sum(one.number for one in answers if one.outcome == Outcome.NIL.value)
    return nil, sum(one.number for one in answers)


def _share(id_: str, title: str, part: int, whole: int) -> Headline:
    value = part / whole if whole else None
    return Headline(id_, title, Unit.SHARE.words(value), value, tr("{part:,} of {whole:,}", part=part, whole=whole))


# Plots of linkers: the measurements of each bundle's gate on held-out documents.

VERDICTS = {
    GateVerdict.PROMOTE: "better",
    GateVerdict.NO_GAIN: "no gain",
    GateVerdict.REFUSED: "worse",
    GateVerdict.NOT_GATED: "without a check",
}
QUALITIES = (
    ("recall", "Recall@1 of the whole linker", ("recall", "1")),
    ("nil_aupr", "NIL auPR of the whole linker", ("nil", "au_pr")),
    ("accuracy", "Right overall, NIL included", ("accuracy",)),
)
NOTE = (
    "Before and after on the same held-out documents. These change as more mentions are decided, so "
    "compare only the two bars of one linker. Of the filters, only the time applies to linkers."
)
LEARNING = "learning"
LEARNING_NOTE = (
    "Share of correct answers, NIL included, on the held-out documents of each training, by the number "
    "of linked decisions in train and validation documents at that time. The interval is that of the "
    "difference."
)


def bundle_plots(bundles: Sequence[BundleInfo], where: StatisticsFilter) -> tuple[Plot, ...]:
    """The plots, oldest bundle first; bundles without a gate's comparison are left out."""
    gated = [one for one in bundles if isinstance(one.metrics.get("new"), Mapping)]
    held = [one for one in gated if where.holds_day(one.created_at.astimezone().date())]
    return (learning_plot(held), *(_plot(held, *quality) for quality in QUALITIES))


def learning_plot(bundles: Sequence[BundleInfo]) -> Plot:
    """The share of right held-out mentions (including NIL) before and after each training, by its number of links."""
    points = learning_points(bundles)
    words = tr("No linker has been trained and compared yet.")
    if points:
        last = points[-1]
        words = tr(
            "With {links:,} links, {recipe} changed the linker's share of correct answers from {before} to {after}.",
            links=last.links,
            recipe=last.recipe,
            before=Unit.SHARE.words(last.before),
            after=Unit.SHARE.words(last.after),
        )
    after = Series(
        tr("After"),
        tuple(one.after for one in points),
        tuple(one.before + one.low for one in points),
        tuple(one.before + one.high for one in points),
        role="after",
    )
    return Plot(
        LEARNING,
        tr("Learning curve"),
        words,
        tr("Linked decisions and recipe"),
        tuple(f"{localised(one.links, ',')} {one.recipe}" for one in points),
        (Series(tr("Before"), tuple(one.before for one in points), role="before"), after),
        Unit.SHARE,
        Shape.BARS,
        note=tr(LEARNING_NOTE),
    )


def _plot(bundles: Sequence[BundleInfo], id_: str, title: str, path: tuple[str, ...]) -> Plot:
    before = tuple(metric(one.metrics.get("old"), *path) for one in bundles)
    after = tuple(metric(one.metrics.get("new"), *path) for one in bundles)
    last = next((value for value in reversed(after) if value is not None), None)
    words = tr("No linker has been trained and compared yet.")
    if last is not None:
        promoted = sum(one.verdict is GateVerdict.PROMOTE for one in bundles)
        words = tr(
            "{number:,} trained, {promoted:,} put into use; the last one reaches {share}.",
            number=len(bundles),
            promoted=promoted,
            share=Unit.SHARE.words(last),
        )
    return Plot(
        id_,
        tr(title),
        words,
        tr("Linker"),
        tuple(_label(one) for one in bundles),
        (Series(tr("Before"), before, role="before"), Series(tr("After"), after, role="after")),
        Unit.SHARE,
        Shape.BARS,
        note=tr(NOTE),
    )


def _label(bundle: BundleInfo) -> str:
    serves = tr(", in use") if bundle.active else ""
    return f"{bundle.created_at.astimezone():%d %b %H:%M} {bundle.recipe}, {tr(VERDICTS[bundle.verdict])}{serves}"


# Plots of agreement between people: with each other in rounds, and with themselves.

Rounds = Sequence[tuple[str, AgreementRow]]


def people_plots(rounds: Rounds, consistency: Sequence[ConsistencyRow], where: StatisticsFilter) -> tuple[Plot, ...]:
    return agreement_plot(rounds), consistency_plot(consistency, where)


def agreement_plot(rounds: Rounds) -> Plot:
    rows = [row for _, row in rounds]
    names = tuple(name for name, _ in rounds)
    words = tr("No round has been judged by two people yet.")
    if rows:
        last = rows[-1]
        words = tr(
            "{names}: Krippendorff's alpha {figure} over {items:,} mentions.",
            names=names[-1],
            figure=Unit.FIGURE.words(last.alpha),
            items=last.items,
        )
    alpha = Series(
        tr("Krippendorff's alpha, links"),
        tuple(row.alpha for row in rows),
        tuple(row.interval.low if row.interval else None for row in rows),
        tuple(row.interval.high if row.interval else None for row in rows),
        tuple(row.items for row in rows),
    )
    kappa = Series(tr("Cohen's kappa, links"), tuple(row.cohen for row in rows))
    spans = Series(tr("F1 of spans, exact"), tuple(row.exact for row in rows))
    return Plot(
        "agreement",
        tr("Agreement by round"),
        words,
        tr("Round"),
        names,
        (alpha, kappa, spans),
        Unit.FIGURE,
        Shape.BARS,
        note=tr(
            "Over whole rounds; filters do not apply. People › Agreement shows agreement by type, document and pair."
        ),
    )


def consistency_plot(rows: Sequence[ConsistencyRow], where: StatisticsFilter) -> Plot:
    held = [one for one in rows if one.period == ALL and where.holds_curator(one.curator)]
    words = tr(
        "No curator has decided the same mention twice yet. A round of the kind “own consistency” (People › Rounds) "
        "measures it."
    )
    if held:
        asked = sum(one.items for one in held)
        same = Unit.SHARE.words(sum(one.same for one in held) / asked)
        words = tr("{same} of {asked:,} second answers are the same as the first.", same=same, asked=asked)
    series = shares(tr("Same answer again"), [(one.same, one.items) for one in held])
    return Plot(
        "consistency",
        tr("Consistency by curator"),
        words,
        tr("Curator"),
        tuple(one.curator for one in held),
        (series,),
        Unit.SHARE,
        Shape.BARS,
    )


# Plots of what decisions cost: seconds, keys and clicks.

# Days gathered into weeks or months, so that plots of long projects stay readable.

MOST_DAYS, MOST_WEEKS = 92, 104
DAY, WEEK, MONTH = NAMES = ("Day", "Week from", "Month from")


def periods(days: Iterable[date]) -> tuple[str, Callable[[date], str], tuple[str, ...]]:
    """(name of a period, day -> its period's first day as an ISO date, the occurring periods in order)."""
    known = sorted(set(days))
    span = (known[-1] - known[0]).days if known else 0
    name, begin = DAY, _day
    if span > MOST_DAYS:
        name, begin = (WEEK, _week) if span <= 7 * MOST_WEEKS else (MONTH, _month)
    return tr(name), begin, tuple(dict.fromkeys(begin(one) for one in known))


def _day(day: date) -> str:
    return day.isoformat()


def _week(day: date) -> str:
    """Weeks begin on Monday."""
    return (day - timedelta(days=day.weekday())).isoformat()


def _month(day: date) -> str:
    return day.replace(day=1).isoformat()


HOUR = 3_600_000
"""Milliseconds."""


class Cost:
    """Sums of efforts: `single`: of decisions made one at a time."""

    def __init__(self, decisions: int, one_key: int, keys: int, milliseconds: int) -> None:
        self.decisions, self.one_key = decisions, one_key
        self.keys = keys / decisions if decisions else None
        self.seconds = milliseconds / 1000 / decisions if decisions else None
        self.per_hour = decisions * HOUR / milliseconds if decisions and milliseconds else None

    @classmethod
    def of(cls, cells: Iterable[EffortCell]) -> Cost:
        held = list(cells)
        return cls(
            sum(one.decisions for one in held),
            sum(one.one_key for one in held),
            sum(one.keys for one in held),
            sum(one.milliseconds for one in held),
        )


NO_EFFORT = "No effort has been measured yet. Measuring starts with your next decision in the window."
COST_NOTE = (
    "Working time without pauses of over a minute, and keys and clicks since the previous step, "
    "including undoing, searching and moving through the text. Undone decisions do not count."
)


def speed_plot(cells: Sequence[EffortCell]) -> Plot:
    cost = Cost.of(cells)
    words = (
        ntr(
            "{seconds} for the only decision measured.",
            "{seconds} per decision, over {n:,} decisions.",
            cost.decisions,
            seconds=Unit.SECONDS.words(cost.seconds),
        )
        if cost.decisions
        else tr(NO_EFFORT)
    )
    return _cost_plot("speed", tr("Seconds per decision"), words, cells, Unit.SECONDS, lambda one: one.seconds)


def pace_plot(cells: Sequence[EffortCell]) -> Plot:
    cost = Cost.of(cells)
    words = (
        tr(
            "{per_hour} decisions per hour of work, {hours}.",
            per_hour=Unit.PER_HOUR.words(cost.per_hour),
            hours=hours_words(cells),
        )
        if cost.decisions
        else tr(NO_EFFORT)
    )
    return _cost_plot("pace", tr("Decisions per hour of work"), words, cells, Unit.PER_HOUR, lambda one: one.per_hour)


def keys_plot(cells: Sequence[EffortCell]) -> Plot:
    cost, single = Cost.of(cells), Cost.of(one for one in cells if not one.many)
    words = tr(NO_EFFORT)
    if single.decisions:
        words = tr(
            "{keys} keys per decision made one at a time, {percent} with one key",
            keys=Unit.KEYS.words(single.keys),
            percent=percent(single.one_key / single.decisions),
        )
        words += (
            tr("; {keys} including several at once.", keys=Unit.KEYS.words(cost.keys))
            if cost.decisions > single.decisions
            else "."
        )
    elif cost.decisions:
        words = tr("{keys} keys per decision; none was made one at a time.", keys=Unit.KEYS.words(cost.keys))
    return _cost_plot("keys", tr("Keys and clicks per decision"), words, cells, Unit.KEYS, lambda one: one.keys)


def _cost_plot(
    id_: str,
    title: str,
    words: str,
    cells: Sequence[EffortCell],
    unit: Unit,
    figure: Callable[[Cost], float | None],
) -> Plot:
    axis, begin, places = periods(one.day for one in cells)
    by_place = {place: [one for one in cells if begin(one.day) == place] for place in places}
    single = [Cost.of(one for one in by_place[place] if not one.many) for place in places]
    every = [Cost.of(by_place[place]) for place in places]
    series = [Series(tr("One at a time"), tuple(map(figure, single)), counts=tuple(one.decisions for one in single))]
    if any(one.many for one in cells):
        series.append(
            Series(tr("Including several at once"), tuple(map(figure, every)), counts=tuple(o.decisions for o in every))
        )
    return Plot(id_, title, words, axis, places, tuple(series), unit, timed=True, note=tr(COST_NOTE))


def hours_words(cells: Iterable[EffortCell]) -> str:
    hours = sum(one.milliseconds for one in cells) / HOUR
    if hours < 1:
        return ntr("{n:,} minute measured", "{n:,} minutes measured", math.ceil(60 * hours))
    return tr("{value:,.1f} hours measured", value=hours)


def taken_words(cost: Cost) -> str:
    return tr("{decisions:,} measured", decisions=cost.decisions)
