"""Plots of curators' work: progress, accepted suggestions, the hold-out and NIL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from curator.domain.decisions import DECIDING, KEPT_BACK_OTHER, KEPT_BACK_SAME, Outcome
from curator.domain.documents import DocumentState
from curator.domain.facets import UNDECIDED
from curator.domain.statistics import IMPORTED, Counts, DecidedCell, Headline, Plot, Series, Shape, Unit, shares
from curator.domain.wording import ntr, percent, tr
from curator.services.records.plots_of_cost import (
    Cost,
    hours_words,
    keys_plot,
    pace_plot,
    periods,
    speed_plot,
    taken_words,
)

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
