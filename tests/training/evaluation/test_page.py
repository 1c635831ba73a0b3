"""The report: one well-formed page that needs nothing else, and says what the figures say."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from lxml import etree

from training.evaluation.page import evaluation_page
from training.evaluation.page_parts import Axis, Chart, ChartSeries, between, draw, in_words, legend, plain
from training.evaluation.page_replay import replay_page


def estimate(value: float | None, low: float | None = None, high: float | None = None) -> dict[str, float | None]:
    return {"value": value, "low": low, "high": high}


def difference(this: float, other: float, low: float, high: float) -> dict[str, Any]:
    return {"this": this, "other": other, "difference": estimate(this - other, low, high), "better": 0.9}


@pytest.fixture
def result() -> dict[str, Any]:
    figures = {
        "recall@1": estimate(0.9, 0.85, 0.95),
        "NIL F1": estimate(None),
        "NIL auPR": estimate(0.7),
        "risk-coverage area": estimate(0.0412, 0.03, 0.05),
        "ECE, NIL": estimate(0.02),
        "Brier gain over base rate, NIL": estimate(-0.25),
    }
    slices = {
        "<type: A&B>": {
            "mentions": 5,
            "in_kb": 4,
            "recall_at_1": 0.5,
            "recall_at_k": 1.0,
            "accuracy": None,
            "nil_f1": None,
            "intervals": {"recall@1": [0.25, 0.75], "recall@k": [None, None]},
        }
    }
    flip = {
        "document_name": "1234",
        "surface": "<b>pain</b>",
        "gold": ["D1"],
        "old": "NIL",
        "new": "D2",
        "direction": "right_to_wrong",
    }
    against = {
        "bundle": "b0",
        "figures": {"recall@1": difference(0.9, 0.8, 0.05, 0.15), "ECE, NIL": difference(0.02, 0.01, 0.005, 0.02)},
        "decisions": {"only_this": 12, "only_other": 3, "p_value": 0.0352},
        "first": {"only_this": 1, "only_other": 0, "p_value": 1.0},
        "flips": [{**flip, "direction": "wrong_to_right", "surface": "gain"}, flip],
        "names": {"D1": "Pain", "D2": "Ache"},
    }
    curves = {
        "precision_recall": [(0.5, 1.0), (1.0, 0.25)],
        "threshold": [0.5, 1.0],
        "base_rate": 0.25,
        "risk_coverage": [(0.1, 0.0), (1.0, 0.2)],
        "coverage_at_risk": {"risk": 0.05, "coverage": 0.4},
        "calibration": {"NIL": [{"count": 3, "said": 0.1, "true": 0.0}, {"count": 3, "said": 0.9, "true": 1.0}]},
    }
    counts = dict.fromkeys(("mentions", "in_kb", "nil_mentions", "composites", "unanswered", "alternate_ids"), 7)
    return {
        **counts,
        "unknown_ids": 1,
        "documents": 12,
        "split": "test",
        "bundle": "b1",
        "made": "2026-01-01T00:00:00+00:00",
        "linker": ["By letters."],
        "kb_hash": "k" * 64,
        "data_hash": "d" * 64,
        "resamples": 1000,
        "seed": 3,
        "k": 64,
        "memory": {"used": True, "decisions": 1234},
        "recall": {"1": 0.9},
        "recall_all": {"1": 0.8},
        "macro_recall": {"1": 0.7},
        "figures": figures,
        "slices": slices,
        "curves": curves,
        "whole_kb": {"recall@1": estimate(0.6, 0.5, 0.7)},
        "against": against,
        "message": "Nine in ten.",
    }


class Words(HTMLParser):
    """The rows of the tables, and everything that would be fetched or run."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.fetched: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        if tag in ("script", "link", "img", "iframe", "object") or any(name in ("src", "href") for name, _ in attrs):
            self.fetched.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self.rows.append([])

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def rows_of(page: str) -> dict[str, list[str]]:
    return {row[0]: [one.replace("\u00a0", " ") for one in row[1:]] for row in Words(page).rows if row}


def test_the_page_needs_nothing_else(result: dict[str, Any]) -> None:
    page = evaluation_page(result)
    assert Words(page).fetched == []
    assert "url(" not in page
    assert "@import" not in page
    assert set(re.findall(r"https?://[^\"\s]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_figures_and_their_intervals(result: dict[str, Any]) -> None:
    page = evaluation_page(result)
    assert '<th scope="row">Recall@1</th><td class="n">90.0\u00a0%</td><td class="n">85.0 to 95.0</td>' in page
    rows = rows_of(page)
    assert rows["NIL F1"][:2] == ["–", ""]
    assert rows["Area under the risk–coverage curve"][:2] == ["0.041", "0.030 to 0.050"]
    assert rows["<type: A&B>"] == ["5", "4", "50.0 %", "25.0 to 75.0", "100.0 %", "", "–", "–"]
    assert rows["Mention memory"] == ["1,234 decisions of train"]
    assert "only 12 documents" in page
    assert "25.0\u00a0% above the base rate" in page


def test_the_comparison_is_coloured_by_what_is_better(result: dict[str, Any]) -> None:
    page = evaluation_page(result)
    assert '<td class="n better">+10.0</td><td class="n">+5.0 to +15.0</td>' in page
    assert '<td class="n worse">+0.010</td>' in page, "a larger error is worse"
    rows = rows_of(page)
    assert rows["Decisions, NIL included"] == ["12", "3", "0.0352"]
    assert rows["<b>pain</b>"] == ["1234", "lost", "D1 Pain", "NIL", "D2 Ache"]
    assert page.index("&lt;b&gt;pain") < page.index(">gain<"), "losses come first"


def test_parts_that_were_not_asked_for_are_left_out(result: dict[str, Any]) -> None:
    del result["against"], result["whole_kb"]
    page = evaluation_page(result)
    assert "McNemar’s exact test</th>" not in page
    assert "Against the whole knowledge base" not in page


def test_every_chart_is_well_formed_and_stays_within_its_frame(result: dict[str, Any]) -> None:
    charts = re.findall(r"<svg class=\"chart\".*?</svg>", evaluation_page(result))
    assert len(charts) == 3
    for chart in charts:
        root = etree.fromstring(chart)
        assert root.get("aria-label")
        wide, tall = (float(one) for one in root.get("viewBox").split()[2:])
        for element in root.iter():
            for name in ("x", "x1", "x2", "cx"):
                assert 0 <= float(element.get(name, 0)) <= wide
            for name in ("y", "y1", "y2", "cy"):
                assert 0 <= float(element.get(name, 0)) <= tall
            for pair in element.get("points", "").split():
                x, y = map(float, pair.split(","))
                assert 0 <= x <= wide
                assert 0 <= y <= tall


def test_a_point_stands_where_its_values_say() -> None:
    chart = Chart("c", Axis("x", high=10, percent=False), Axis("y"), [ChartSeries("s", [(0, 0.0), (10, 1.0)])])
    line = etree.fromstring(draw(chart)).find("{*}polyline")
    assert line is not None
    (x0, y0), (x1, y1) = (tuple(map(float, pair.split(","))) for pair in line.get("points").split())
    assert x0 < x1
    assert y0 > y1, "up is smaller"
    assert (chart.x(5), chart.y(0.5)) == (pytest.approx((x0 + x1) / 2), pytest.approx((y0 + y1) / 2))
    assert legend(chart) == ""


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.5, 1, [0.5, 0.6, 0.7, 0.8, 0.9, 1]),
        (0, 1115, [0, 200, 400, 600, 800, 1000]),
    ],
)
def test_ticks_are_round(low: float, high: float, ticks: list[float]) -> None:
    assert Axis("", low, high).ticks() == pytest.approx(ticks)


def test_numbers_in_words() -> None:
    assert between("recall@1", -0.002, 0.011, signed=True) == "−0.2 to +1.1"
    assert between("ECE, NIL", 0.01, 0.02) == "0.010 to 0.020"
    assert between("recall@1", None, 0.5) == ""
    assert in_words("Brier gain over base rate, NIL", 0.25) == "25.0\u00a0%"
    assert plain(None) == "–"


def test_a_replay_shows_its_curves() -> None:
    stretch = {"end": 50, "decisions": 50, "recall_at_1": 0.5, "more_keys": 0.4, "more_than_digit": 0.2, "nil_f1": None}
    replay = {
        "documents": 4,
        "decisions": 100,
        "remembers": True,
        "every": stretch,
        "last": stretch,
        "stretches": [stretch, {**stretch, "end": 100, "nil_f1": 0.5}],
        "starts": {"train": 0, "test": 60},
    }
    facts = {"bundle": "b", "made": "now", "kb_hash": "k", "data_hash": "d", "message": "Done."}
    page = replay_page({**facts, "split": "train", "then": "test", "replay": replay})
    rows = rows_of(page)
    assert rows["Splits"] == ["train from decision 1, test from decision 61"]
    assert rows["One key"] == ["60.0 %", "60.0 %"]
    first, second = (etree.fromstring(one) for one in re.findall(r"<svg class=\"chart\".*?</svg>", page))
    assert len(first.findall("{*}polyline")) == 2
    assert [len(one.get("points").split()) for one in second.findall("{*}polyline")] == [2]
    assert len(second.findall("{*}circle")) == 1, "a line of one point is a dot"
    assert Words(page).fetched == []
