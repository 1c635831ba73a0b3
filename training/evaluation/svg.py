"""Small charts as inline SVG. Colours come from the page's style (classes `s0` … `s2`, `axis`, `grid`, `words`), so a
chart follows its light or dark ground; series differ by dashes too, not by colour alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 440, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 22, 46
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """A line, or `dots` only; `steps` draws it as stairs that hold a value until the next."""

    name: str
    points: Sequence[Point]
    dots: bool = False
    steps: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`; `percent` writes ticks in per cent, otherwise as whole numbers."""

    title: str
    low: float = 0.0
    high: float = 1.0
    percent: bool = True

    def ticks(self) -> list[float]:
        """About five round values within the range."""
        wide = self.high - self.low
        step = next(s for s in _steps(wide) if wide / s <= 6)
        first = -(-self.low // step) * step
        return [first + n * step for n in range(int((self.high - first) / step + 1e-9) + 1)]

    def words(self, value: float) -> str:
        return f"{100 * value:.3g} %" if self.percent else f"{value:,.0f}"


@dataclass(frozen=True, slots=True)
class Chart:
    """`diagonal` draws y = x, `marks` are vertical lines with words, `level` is a horizontal line with words."""

    title: str
    across: Axis
    up: Axis
    series: Sequence[ChartSeries]
    diagonal: bool = False
    marks: Sequence[tuple[float, str]] = ()
    level: tuple[float, str] | None = None

    def x(self, value: float) -> float:
        share = (value - self.across.low) / (self.across.high - self.across.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = (value - self.up.low) / (self.up.high - self.up.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def draw(chart: Chart) -> str:
    """The chart with its title as accessible name."""
    parts = [*_grid(chart), *_lines(chart), *(_series(chart, at, one) for at, one in enumerate(chart.series))]
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(chart.title)}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def legend(chart: Chart) -> str:
    """The names of the series beside a piece of their lines; empty for one series alone."""
    if len(chart.series) < 2:
        return ""
    return "".join(
        f'<span class="key"><svg width="28" height="10" aria-hidden="true">{_sample(at, one)}</svg>'
        f"{escape(one.name)}</span>"
        for at, one in enumerate(chart.series)
    )


def _sample(at: int, series: ChartSeries) -> str:
    if series.dots:
        return f'<circle class="dot{at}" cx="14" cy="5" r="3.6"/>'
    return f'<line x1="1" y1="5" x2="27" y2="5" class="s{at}"/>'


def interval_bar(low: float, value: float, high: float) -> str:
    """A figure between 0 and 1 with its interval on a small scale."""
    wide, tall = 120, 12
    a, b, c = (4 + min(max(one, 0.0), 1.0) * (wide - 8) for one in (low, value, high))
    return (
        f'<svg class="bar" width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}" aria-hidden="true">'
        f'<line class="axis" x1="4" y1="6" x2="{wide - 4}" y2="6"/>'
        f'<line class="range" x1="{a:.1f}" y1="6" x2="{max(c, a + 1):.1f}" y2="6"/>'
        f'<circle class="dot" cx="{b:.1f}" cy="6" r="3.2"/></svg>'
    )


def _steps(wide: float) -> list[float]:
    """Round step widths, growing."""
    if wide <= 0:
        return [1.0]
    powers = [10.0**n for n in range(-6, 10)]
    return [factor * power for power in powers for factor in (1, 2, 2.5, 5)]


def _grid(chart: Chart) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    found = []
    for value in chart.up.ticks():
        y = chart.y(value)
        found.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
        found.append(_words(LEFT - 7, y + 4, chart.up.words(value), anchor="end"))
    for value in chart.across.ticks():
        x = chart.x(value)
        found.append(f'<line class="axis" x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{bottom + 4}"/>')
        anchor = "end" if x > right - 12 else "middle"
        found.append(_words(min(x, right + RIGHT - 2), bottom + 17, chart.across.words(value), anchor=anchor))
    found.append(f'<line class="axis" x1="{LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>')
    found.append(_words((LEFT + right) / 2, HEIGHT - 8, chart.across.title, anchor="middle"))
    middle = (TOP + bottom) / 2
    turned = f' transform="rotate(-90 13 {middle:.0f})"'
    found.append(_words(13, middle, chart.up.title, anchor="middle", more=turned))
    return found


def _lines(chart: Chart) -> list[str]:
    found = []
    if chart.diagonal:
        low, high = max(chart.across.low, chart.up.low), min(chart.across.high, chart.up.high)
        found.append(
            f'<line class="guide" x1="{chart.x(low):.1f}" y1="{chart.y(low):.1f}" '
            f'x2="{chart.x(high):.1f}" y2="{chart.y(high):.1f}"/>'
        )
    for value, words in chart.marks:
        x = chart.x(value)
        found.append(f'<line class="guide" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}"/>')
        found.append(_words(x, TOP - 7, words, anchor="middle"))
    if chart.level is not None:
        y = chart.y(chart.level[0])
        found.append(f'<line class="guide" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>')
        found.append(_words(WIDTH - RIGHT - 3, y - 5, chart.level[1], anchor="end"))
    return found


def _series(chart: Chart, at: int, series: ChartSeries) -> str:
    places = [(chart.x(x), chart.y(y)) for x, y in series.points]
    if series.dots or len(places) == 1:
        return "".join(f'<circle class="dot{at}" cx="{x:.1f}" cy="{y:.1f}" r="3.6"/>' for x, y in places)
    path = []
    for number, (x, y) in enumerate(places):
        if series.steps and number:
            path.append(f"{x:.1f},{places[number - 1][1]:.1f}")
        path.append(f"{x:.1f},{y:.1f}")
    return f'<polyline class="s{at}" points="{" ".join(path)}"/>'


def _words(x: float, y: float, words: str, *, anchor: str = "start", more: str = "") -> str:
    return f'<text class="words" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'
