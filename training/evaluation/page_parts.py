"""Pieces of a report page: style, tables, formatted numbers. The page is self-contained and has no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

# Small charts as inline SVG. Colours come from the page's style (classes `s0` … `s2`, `axis`, `grid`, `words`), so a
# chart follows the light or dark theme; series differ by dashes too, not by colour alone.

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
    """An axis from `low` to `high`; ticks are in per cent with `percent`, otherwise whole numbers."""

    title: str
    low: float = 0.0
    high: float = 1.0
    percent: bool = True

    def ticks(self) -> list[float]:
        """About five round values in the range."""
        wide = self.high - self.low
        step = next(s for s in _steps(wide) if wide / s <= 6)
        first = -(-self.low // step) * step
        return [first + n * step for n in range(int((self.high - first) / step + 1e-9) + 1)]

    def words(self, value: float) -> str:
        return f"{100 * value:.3g} %" if self.percent else f"{value:,.0f}"


@dataclass(frozen=True, slots=True)
class Chart:
    """`diagonal` draws y = x, `marks` are labelled vertical lines, `level` is a labelled horizontal line."""

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
    """The names of the series next to samples of their lines; empty for a single series."""
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
    """A figure between 0 and 1 with its interval, as a small bar."""
    wide, tall = 120, 12
    a, b, c = (4 + min(max(one, 0.0), 1.0) * (wide - 8) for one in (low, value, high))
    return (
        f'<svg class="bar" width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}" aria-hidden="true">'
        f'<line class="axis" x1="4" y1="6" x2="{wide - 4}" y2="6"/>'
        f'<line class="range" x1="{a:.1f}" y1="6" x2="{max(c, a + 1):.1f}" y2="6"/>'
        f'<circle class="dot" cx="{b:.1f}" cy="6" r="3.2"/></svg>'
    )


def _steps(wide: float) -> list[float]:
    """Round step widths in ascending order."""
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


DASH = "–"
NBSP = "\u00a0"
TITLES = {
    "risk-coverage area": "Area under the risk–coverage curve",
    "right in all, NIL included": "Right overall, NIL included",
}
STYLE = """
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1c2127; --muted: #56606b; --line: #d3d7dd;
  --soft: #f3f4f6; --one: #0a65a8; --two: #a34f00; --three: #00734f; --bad: #9c3a00; }
@media (prefers-color-scheme: dark) { :root { --ground: #15171b; --ink: #e3e6ea; --muted: #a3adb8; --line: #343a42;
  --soft: #20242a; --one: #7dbcf0; --two: #f0b53a; --three: #4bd0a8; --bad: #f39a68; } }
@media print { :root { --ground: #ffffff; --ink: #000000; --muted: #444444; --line: #bbbbbb; --soft: #f3f4f6;
  --one: #0a65a8; --two: #a34f00; --three: #00734f; --bad: #9c3a00; } body { font-size: 10pt; }
  section, figure, tr { break-inside: avoid; } section.long { break-inside: auto; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px 20px 60px; max-width: 1000px; background: var(--ground); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
h1 { font-size: 1.6em; margin: 0 0 .2em; } h2 { font-size: 1.2em; margin: 2em 0 .5em; }
p { max-width: 75ch; margin: .4em 0; } .muted, figcaption { color: var(--muted); }
code { font-size: .88em; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } .wide + .wide { margin-top: 1.6em; }
table { border-collapse: collapse; min-width: 62%; font-variant-numeric: tabular-nums; }
th, td { padding: .28em 1.4em .28em 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-weight: 600; } thead th { color: var(--muted); vertical-align: bottom; }
td.n, th.n { text-align: right; white-space: nowrap; } tbody th { font-weight: 400; }
td.worse { color: var(--bad); } td.better { color: var(--three); }
td.low { color: var(--muted); } td.n.low { padding-left: 0; }
table.facts th { min-width: 17em; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 20px 28px; }
figure { margin: 0; } figcaption { font-size: .93em; } figure strong { display: block; }
svg.chart { width: 100%; height: auto; display: block; } svg.bar { vertical-align: middle; }
.words { fill: var(--muted); font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
.grid { stroke: var(--line); stroke-width: 1; } .axis { stroke: var(--muted); stroke-width: 1; }
.guide { stroke: var(--muted); stroke-width: 1; stroke-dasharray: 3 3; }
.s0, .s1, .s2 { fill: none; stroke-width: 2; stroke-linejoin: round; }
.s0 { stroke: var(--one); } .s1 { stroke: var(--two); stroke-dasharray: 7 4; }
.s2 { stroke: var(--three); stroke-dasharray: 2 3; }
.dot0, .dot { fill: var(--one); } .dot1 { fill: var(--two); } .dot2 { fill: var(--three); }
.range { stroke: var(--one); stroke-width: 4; stroke-opacity: .4; }
.key { display: inline-flex; align-items: center; gap: .4em; margin-right: 1.2em; }
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """Text, or finished `markup`; `kind` is a CSS class: `n` for figures, `better`, `worse`, `low`."""

    text: str
    kind: str = ""
    markup: bool = False

    def html(self, tag: str = "td", more: str = "") -> str:
        kind = f' class="{self.kind}"' if self.kind else ""
        return f"<{tag}{kind}{more}>{self.text if self.markup else escape(self.text)}</{tag}>"


def page(title: str, lead: str, sections: Iterable[str]) -> str:
    """A whole HTML page."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n<p>{escape(lead)}</p>\n{''.join(sections)}</body></html>\n"
    )


def section(title: str, *parts: str, long: bool = False) -> str:
    """A section of the page; empty if all its parts are."""
    body = "".join(parts)
    kind = ' class="long"' if long else ""
    return f"<section{kind}><h2>{escape(title)}</h2>\n{body}</section>\n" if body else ""


def paragraph(words: str, *, muted: bool = False) -> str:
    kind = ' class="muted"' if muted else ""
    return f"<p{kind}>{escape(words)}</p>\n"


def facts(rows: Iterable[tuple[str, object]]) -> str:
    """Names and values in a two-column table without a header."""
    body = "".join(_row((Cell(name), Cell(str(value)))) for name, value in rows)
    return f'<div class="wide"><table class="facts"><tbody>{body}</tbody></table></div>\n'


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table whose first column names the rows; headers over figures are right-aligned."""
    lines = [list(row) for row in rows]
    if not lines:
        return ""
    kinds = [one.kind for one in lines[0]]
    top = "".join(
        Cell(words, "n" if _numeric(kind) else "").html("th", ' scope="col"')
        for words, kind in zip(head, kinds, strict=True)
    )
    body = "".join(_row(row) for row in lines)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>\n'


def _row(row: Sequence[Cell]) -> str:
    first = row[0].html("th", ' scope="row"')
    return f"<tr>{first}{''.join(cell.html() for cell in row[1:])}</tr>"


def figure(chart: Chart, words: str) -> str:
    """A chart with its title, legend and a sentence about it."""
    return (
        f"<figure><strong>{escape(chart.title)}</strong>{draw(chart)}{legend(chart)}"
        f"<figcaption>{escape(words)}</figcaption></figure>\n"
    )


def charts(figures: Iterable[str]) -> str:
    body = "".join(figures)
    return f'<div class="charts">{body}</div>\n' if body else ""


def _numeric(kind: str) -> bool:
    return kind.split(" ")[0] == "n"


def percent(value: float | None) -> str:
    """`91.2 %`; a dash if the figure is not defined."""
    return DASH if value is None else f"{100 * value:.1f}{NBSP}%"


def plain(value: float | None) -> str:
    """`0.041`; a dash if the figure is not defined."""
    return DASH if value is None else f"{value:.3f}"


def title(name: str) -> str:
    """A figure's name at the beginning of a row."""
    return TITLES.get(name) or name[:1].upper() + name[1:]


def is_plain(name: str) -> bool:
    """Whether a figure is not a percentage."""
    return name.startswith(("ECE", "Brier,", "risk-coverage"))


def in_words(name: str, value: float | None) -> str:
    return plain(value) if is_plain(name) else percent(value)


def between(name: str, low: float | None, high: float | None, *, signed: bool = False) -> str:
    """`90.1 to 92.3`, `signed`: `−0.2 to +1.1`; empty if there is no interval."""
    if low is None or high is None:
        return ""
    sign, scale, digits = "+" if signed else "", *((1, 3) if is_plain(name) else (100, 1))
    return " to ".join(f"{scale * end:{sign}.{digits}f}".replace("-", "−") for end in (low, high))


def bar(estimate: Mapping[str, Any]) -> Cell:
    """The interval on a scale from 0 to 1."""
    value, low, high = (estimate[part] for part in ("value", "low", "high"))
    if value is None or low is None or high is None:
        return Cell("")
    return Cell(interval_bar(low, value, high), markup=True)
