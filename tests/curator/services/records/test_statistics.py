"""The figures of the dashboard, from counts made by hand and from a project."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta

import pytest

from curator.domain.decisions import KEPT_BACK_OTHER, KEPT_BACK_SAME, Shown, ShownCandidate, Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.jobs import BundleInfo, GateVerdict
from curator.domain.statistics import (
    Counts,
    DecidedCell,
    DocumentCell,
    EffortCell,
    Plot,
    Series,
    Shape,
    StatisticsFilter,
    Unit,
    shares,
    wilson,
)
from curator.services.ports.queue import QueueFilter
from curator.services.records.plots import periods
from curator.services.records.statistics import Statistics, as_json, head_figures, plots
from curator.services.rounds.agreement import AgreementRow, ConsistencyRow
from tests.curator.services.fakes import World

DAY = date(2026, 3, 2)  # a Monday
NEXT = DAY + timedelta(days=1)
EVERYTHING = StatisticsFilter()


def decided(
    number: int, rank: int | None, *, outcome: str = "link", day: date = DAY, curator: str = "ada"
) -> DecidedCell:
    return DecidedCell(day, curator, "train", outcome, rank, number)


def effort(
    decisions: int, keys: int, seconds: float, *, day: date = DAY, many: bool = False, one_key: int = 0
) -> EffortCell:
    return EffortCell(day, "ada", "train", many, decisions, one_key, keys, round(1000 * seconds))


COUNTS = Counts(
    (
        DocumentCell(Split.TRAIN, DocumentState.DONE, 3, (("", 0), ("link", 30), ("nil", 10))),
        DocumentCell(Split.TEST, DocumentState.TODO, 1, (("", 60), ("link", 0), ("nil", 0))),
    ),
    (
        decided(6, 1),
        decided(2, 2, day=NEXT),
        decided(1, 0, day=NEXT),
        decided(1, None, curator="bob"),
        decided(2, 1, outcome="nil", day=NEXT),
        decided(3, KEPT_BACK_SAME),
        decided(1, KEPT_BACK_OTHER, outcome="nil"),
        decided(5, None, outcome="skipped"),
        decided(100, None, curator="import"),
    ),
    (effort(10, 14, 36.0, one_key=8), effort(90, 6, 64.0, day=NEXT, many=True), effort(0, 2, 4.0)),
)


def plot(id_: str, found: Statistics | None = None, where: StatisticsFilter = EVERYTHING) -> Plot:
    return next(one for one in plots(found or Statistics(COUNTS), where) if one.id == id_)


def values(id_: str, series: int = 0, where: StatisticsFilter = EVERYTHING) -> dict[str, float | None]:
    found = plot(id_, where=where)
    return dict(zip(found.places, found.series[series].values, strict=True))


def test_progress_adds_up_from_day_to_day_and_filters() -> None:
    assert values("progress") == {"2026-03-02": 110.0, "2026-03-03": 113.0}
    nil = plot("progress").series[1]
    assert (nil.name, nil.values) == ("NIL", (1.0, 3.0))
    assert values("progress", where=StatisticsFilter("ada", until=DAY)) == {"2026-03-02": 9.0}
    assert plot("progress", where=StatisticsFilter(split=Split.TEST)).is_empty
    assert values("mentions") == {"undecided": 60, "linked": 30, "NIL": 10, "rejected": 0, "skipped": 0}
    assert values("documents", where=StatisticsFilter(split=Split.TEST))["todo"] == 1


def test_acceptance_counts_people_who_saw_suggestions_by_rank() -> None:
    found = plot("ranks")
    assert dict(zip(found.places, found.series[0].values, strict=True)) == pytest.approx(
        {
            "1 (Enter)": 8 / 12,
            "2": 2 / 12,
            **dict.fromkeys("3456789", 0.0),
            "lower": 0,
            "not listed": 1 / 12,
            "nothing shown": 1 / 12,
        }
    )
    assert "72.7 % accepted the first" in found.summary  # of the eleven with suggestions on show
    assert values("accepted") == pytest.approx({"2026-03-02": 1.0, "2026-03-03": 2 / 5})


def test_the_hold_out_stands_beside_what_was_seen() -> None:
    found = plot("holdout")
    assert found.series[0].values == pytest.approx((3 / 4, 8 / 11))
    assert found.series[0].counts == (4, 11)
    assert plot("holdout", Statistics(Counts())).is_empty


def test_nil_is_a_share_of_links_and_nil() -> None:
    assert values("nil") == pytest.approx({"2026-03-02": 1 / 111, "2026-03-03": 2 / 5})


def test_cost_tells_single_decisions_from_those_taken_together() -> None:
    assert values("keys") == pytest.approx({"2026-03-02": 16 / 10, "2026-03-03": None})
    assert values("keys", 1) == pytest.approx({"2026-03-02": 16 / 10, "2026-03-03": 6 / 90})
    assert values("speed") == pytest.approx({"2026-03-02": 4.0, "2026-03-03": None})
    assert values("pace")["2026-03-02"] == pytest.approx(900)
    assert "1.60 keys per decision made one at a time, 80.0 % with one key; 0.22" in plot("keys").summary


def test_headlines_have_a_dash_before_there_is_anything() -> None:
    assert {one.words for one in head_figures(Statistics(Counts()), EVERYTHING)} == {"–"}
    found = {one.id: one.value for one in head_figures(Statistics(COUNTS), EVERYTHING)}
    assert found == pytest.approx(
        {
            "decided": 0.4,
            "pace": 100 * 3600 / 104,
            "seconds": 1.04,
            "keys": 0.22,
            "accepted": 8 / 11,
            "held_out": 0.75,
            "nil": 3 / 116,
        }
    )


def test_long_projects_are_gathered_into_weeks_and_months() -> None:
    days = [DAY + timedelta(days=one) for one in range(0, 140, 2)]
    name, begin, places = periods(days)
    assert (name, places[0], len(places), begin(DAY + timedelta(days=6))) == (
        "Week from",
        "2026-03-02",
        20,
        "2026-03-02",
    )
    name, begin, places = periods([DAY, DAY + timedelta(days=1000)])
    assert (name, places) == ("Month from", ("2026-03-01", "2028-11-01"))
    assert periods([])[2] == ()


def bundle(day: int, recall: float, *, verdict: GateVerdict = GateVerdict.PROMOTE, active: bool = False) -> BundleInfo:
    metrics = {
        "old": {"recall": {"1": 0.8}, "nil": {"au_pr": None}},
        "new": {"recall": {"1": recall}, "nil": {"au_pr": 0.5}, "accuracy": 0.7},
    }
    at = datetime(2026, 3, day, 12, tzinfo=UTC)
    return BundleInfo(f"b{day}", "pel", at, "", active, verdict, "", metrics=metrics)


def test_bundles_come_with_what_their_gate_measured() -> None:
    untrained = BundleInfo("u", "untrained", datetime(2026, 3, 1, tzinfo=UTC), "", False, GateVerdict.NOT_GATED, "")
    found = Statistics(
        Counts(), (untrained, bundle(2, 0.85, active=True), bundle(5, 0.75, verdict=GateVerdict.REFUSED))
    )
    recall = plot("recall", found)
    assert [one.values for one in recall.series] == [(0.8, 0.8), (0.85, 0.75)]
    assert recall.places[0].endswith("pel, better, in use")
    assert "2 trained, 1 put into use; the last one reaches 75.0 %" in recall.summary
    assert plot("nil_aupr", found).series[0].values == (None, None)
    assert len(plot("recall", found, StatisticsFilter(until=date(2026, 3, 3))).places) == 1


def test_rounds_and_second_answers_are_plotted() -> None:
    row = AgreementRow("all", 40, 0.9, 0.8, 0.8, 0.81, None, 0.8, 0.8, 0.95, 0.97)
    again = (ConsistencyRow("ada", "all", 10, 9, None, 3.0), ConsistencyRow("ada", "2026-03", 10, 9, None, 3.0))
    found = Statistics(Counts(), rounds=(("first", row),), consistency=again)
    assert [one.values for one in plot("agreement", found).series] == [(0.81,), (0.8,), (0.95,)]
    assert plot("consistency", found).series[0].values == (0.9,)
    assert plot("consistency", found, StatisticsFilter("bob")).is_empty


def test_a_plot_is_a_table_a_csv_and_json() -> None:
    found = Plot(
        "p",
        "P",
        "Says.",
        "Day",
        ("a", "b"),
        (shares("S", [(1, 2), (0, 0)]), Series("T", (1.0, None))),
        Unit.SHARE,
        Shape.BARS,
    )
    assert found.head == ("Day", "S", "S, 95 % from", "S, 95 % to", "S, cases", "T")
    assert found.csv().splitlines()[2] == "b,,,,0,"
    assert json.loads(json.dumps(found.as_json()))["series"][1] == {"name": "T", "values": [1.0, None]}
    with pytest.raises(ValueError, match="1 values for 2 places"):
        Plot("p", "P", "", "Day", ("a", "b"), (Series("T", (1.0,)),), Unit.COUNT)


def test_wilsons_interval_of_a_worked_example() -> None:
    """Newcombe (1998), Stat. Med. 17, table I, method 3: 81 of 263 and 0 of 20."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=1e-4)
    assert wilson(0, 0) == (None, None)


def test_a_project_is_read_as_it_was_decided(filled: World) -> None:
    project = filled.project
    shown = Shown("b", (ShownCandidate("MESH:D008012", 1.0),), nil_first=False)
    first = project.queue.mention_ids(QueueFilter())[0]
    change = project.curation.decide(first, Verdict.link("MESH:D008012"), shown=shown)
    assert change.operation_id is not None
    project.efforts.record(change.operation_id, keys=1, milliseconds=1500)
    project.efforts.flush()
    found = project.statistics.read()
    figures = as_json(found, EVERYTHING)["figures"]
    assert figures == pytest.approx(
        {"decided": 1 / 8, "pace": 2400, "seconds": 1.5, "keys": 1.0, "accepted": 1.0, "held_out": None, "nil": 0.0}
    )
    assert found.counts.curators == (found.counts.decided[0].curator,)
    project.curation.undo()
    assert as_json(project.statistics.read(), EVERYTHING)["figures"]["decided"] == 0.0
