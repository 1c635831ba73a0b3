"""Light and dark palettes and the colours of the mention states.

Widgets take every colour from their QPalette, or from `theme_of(palette)` if a palette has no role for it, so a change
of palette reaches them without a registry. State hues are the Okabe-Ito set (Okabe and Ito 2008,
https://jfly.uni-koeln.de/color/), lightened or darkened until lines reach 3:1 and text 4.5:1 (WCAG 2.2, 1.4.3 and
1.4.11) on their background.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files

from PySide6.QtCore import QByteArray, QObject, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QIcon, QIconEngine, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.sizing import USUAL_LINE


class Scheme(StrEnum):
    """The setting of the colour scheme: follow the desktop, light or dark."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class StateColours:
    """`line` underlines and frames, `tint` lies under text, `ink` is for words on Base, Window or `tint`."""

    line: QColor
    tint: QColor
    ink: QColor


@dataclass(frozen=True, slots=True)
class Theme:
    """A palette and the colours that have no palette role. Text on `accent_tint`, `selection` or `note` is
    `palette.text()`."""

    dark: bool
    palette: QPalette
    states: Mapping[MentionState, StateColours]
    border: QColor
    muted: QColor  # secondary words; 4.5:1 on Base, Window and accent_tint
    accent: QColor  # bars, links, focus
    accent_tint: QColor  # the chosen row
    hover: QColor
    selection: QColor  # selected text in the document
    track: QColor  # the empty part of a bar
    note: QColor  # background of notes such as "not calibrated here"
    note_ink: QColor
    sides: tuple[StateColours, StateColours]  # for two compared candidates: blue and yellow


def luminance(colour: QColor) -> float:
    """Relative luminance as WCAG 2.2 defines it, 0..1."""

    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)

    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF())


def contrast(one: QColor, other: QColor) -> float:
    """Contrast ratio of WCAG 2.2, 1..21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def blend(colour: QColor, ground: QColor, share: float) -> QColor:
    """`share` of `colour` over `ground`, opaque."""
    red, green, blue = (
        one * share + other * (1 - share)
        for one, other in (
            (colour.redF(), ground.redF()),
            (colour.greenF(), ground.greenF()),
            (colour.blueF(), ground.blueF()),
        )
    )
    return QColor.fromRgbF(red, green, blue)


# (line, ink) of each state; undecided orange, linked bluish green, NIL reddish purple, rejected vermillion,
# skipped sky blue
_LIGHT_STATES = {
    MentionState.UNDECIDED: ("#b97d00", "#835800"),
    MentionState.LINKED: ("#008a64", "#006b4d"),
    MentionState.NIL: ("#b5578a", "#99406f"),
    MentionState.REJECTED: ("#b04000", "#9c3a00"),
    MentionState.SKIPPED: ("#2e8fc7", "#1c6796"),
}
_DARK_STATES = {
    MentionState.UNDECIDED: ("#e69f00", "#f0b53a"),
    MentionState.LINKED: ("#12b487", "#4bd0a8"),
    MentionState.NIL: ("#cc79a7", "#e0a0c3"),
    MentionState.REJECTED: ("#e8702a", "#f39a68"),
    MentionState.SKIPPED: ("#56b4e9", "#86c9ef"),
}


def _states(
    pairs: Mapping[MentionState, tuple[str, str]], ground: QColor, share: float
) -> dict[MentionState, StateColours]:
    return {
        state: StateColours(QColor(line), blend(QColor(line), ground, share), QColor(ink))
        for state, (line, ink) in pairs.items()
    }


def _palette(colours: Mapping[QPalette.ColorRole, str], disabled: str) -> QPalette:
    palette = QPalette()
    for role, colour in colours.items():
        palette.setColor(role, QColor(colour))
    for role in (QPalette.ColorRole.Text, QPalette.ColorRole.WindowText, QPalette.ColorRole.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(disabled))
    return palette


def _light() -> Theme:
    role = QPalette.ColorRole
    palette = _palette(
        {
            role.Window: "#f3f4f6", role.WindowText: "#1c2127", role.Base: "#ffffff", role.AlternateBase: "#f8f9fa",
            role.Text: "#1c2127", role.PlaceholderText: "#5b6570", role.Button: "#ffffff", role.ButtonText: "#1c2127",
            role.BrightText: "#ffffff", role.ToolTipBase: "#1c2127", role.ToolTipText: "#f3f4f6",
            role.Highlight: "#0a65a8", role.HighlightedText: "#ffffff", role.Link: "#0a65a8",
            role.LinkVisited: "#6b4d9e", role.Light: "#ffffff", role.Midlight: "#eceef1", role.Mid: "#d3d7dd",
            role.Dark: "#7d8792", role.Shadow: "#7d8792", role.Accent: "#0a65a8",
        },
        "#868f99",
    )  # fmt: skip
    white = QColor("#ffffff")
    return Theme(
        dark=False,
        palette=palette,
        states=_states(_LIGHT_STATES, white, 0.17),
        border=QColor("#d3d7dd"),
        muted=QColor("#56606b"),
        accent=QColor("#0a65a8"),
        accent_tint=QColor("#e3eef8"),
        hover=QColor("#f1f4f7"),
        selection=QColor("#bcd9f2"),
        track=QColor("#e4e7eb"),
        note=QColor("#fdf3dd"),
        note_ink=QColor("#6b4a00"),
        sides=(
            StateColours(QColor("#0072b2"), QColor("#cfe5f5"), QColor("#00588a")),
            StateColours(QColor("#a08c00"), QColor("#f7f0a3"), QColor("#665900")),
        ),
    )


def _dark() -> Theme:
    role = QPalette.ColorRole
    palette = _palette(
        {
            role.Window: "#1d2025", role.WindowText: "#e3e6ea", role.Base: "#15171b", role.AlternateBase: "#1a1d21",
            role.Text: "#e3e6ea", role.PlaceholderText: "#9aa4af", role.Button: "#2a2e35", role.ButtonText: "#e3e6ea",
            role.BrightText: "#ffffff", role.ToolTipBase: "#30353d", role.ToolTipText: "#f0f2f4",
            role.Highlight: "#2a6da8", role.HighlightedText: "#ffffff", role.Link: "#7dbcf0",
            role.LinkVisited: "#c3a6ee", role.Light: "#3a4049", role.Midlight: "#2e333a", role.Mid: "#3a4049",
            role.Dark: "#6c7682", role.Shadow: "#08090b", role.Accent: "#5aa9e6",
        },
        "#6f7883",
    )  # fmt: skip
    ground = QColor("#15171b")
    return Theme(
        dark=True,
        palette=palette,
        states=_states(_DARK_STATES, ground, 0.24),
        border=QColor("#343a42"),
        muted=QColor("#a3adb8"),
        accent=QColor("#5aa9e6"),
        accent_tint=QColor("#1f3346"),
        hover=QColor("#20242a"),
        selection=QColor("#2b4f70"),
        track=QColor("#2b3037"),
        note=QColor("#3a2f16"),
        note_ink=QColor("#f3d58f"),
        sides=(
            StateColours(QColor("#3f9fdc"), QColor("#174766"), QColor("#7dbcf0")),
            StateColours(QColor("#f0e442"), QColor("#56501a"), QColor("#f0e442")),
        ),
    )


LIGHT, DARK = _light(), _dark()


def theme_of(palette: QPalette) -> Theme:
    """The theme that fits a widget's palette, by the lightness of Base."""
    return DARK if palette.color(QPalette.ColorRole.Base).lightnessF() < 0.5 else LIGHT


def style_sheet(theme: Theme, line: int = USUAL_LINE) -> str:
    """Additions to the Fusion style. Colours are palette roles, except in tooltips, where Qt would use the window's
    roles (light text on light). `line` is the line height of the interface font, which scales check boxes and radio
    buttons."""
    ink, ground = (theme.palette.color(role).name() for role in (_TIP_TEXT, _TIP_BASE))
    tips = f"QToolTip {{ color: {ink}; background: {ground}; border: 1px solid {ground}; padding: 4px 6px; }}"
    return tips + _SHEET + _indicators(line)


def _indicators(line: int) -> str:
    """Style of check boxes and radio buttons: a frame of 3:1 contrast or more, which Fusion lacks in dark windows."""
    side = 2 * round(line * 0.42)  # even, so that the dot of a radio button is centred
    dot = 2 * (side // 4)
    images = files("resources").joinpath("indicators")
    tick, dash = (str(images.joinpath(f"{one}.svg")).replace("\\", "/") for one in ("tick", "dash"))
    return f"""
    {_each("")} {{ width: {side}px; height: {side}px; border: 1px solid palette(placeholder-text); border-radius: 3px;
        background: palette(base); }}
    {_each(":checked")}, {_each(":indeterminate")} {{
        border-color: palette(accent); background: palette(highlight); }}
    {_each(":checked")} {{ image: url("{tick}"); }}
    {_each(":indeterminate")} {{ image: url("{dash}"); }}
    {_each(":selected")} {{ border-color: palette(highlighted-text); }}
    {_each(":checked:disabled")}, {_each(":indeterminate:disabled")} {{
        border-color: palette(dark); background: palette(dark); }}
    {_each(":unchecked:disabled")} {{ border-color: palette(mid); }}
    QRadioButton::indicator {{ width: {side}px; height: {side}px; border: 1px solid palette(placeholder-text);
        border-radius: {side // 2 + 1}px; background: palette(base); }}
    QRadioButton::indicator:checked {{ width: {dot}px; height: {dot}px;
        border: {(side - dot) // 2 + 1}px solid palette(accent); }}
    QRadioButton::indicator:checked:disabled {{ border-color: palette(dark); }}
    QRadioButton::indicator:unchecked:disabled {{ border-color: palette(mid); }}
    """


def _each(state: str) -> str:
    boxes = ("QCheckBox", "QGroupBox", "QTreeView", "QTableView", "QListView")
    return ", ".join(f"{one}::indicator{state}" for one in boxes)


_TIP_TEXT, _TIP_BASE = QPalette.ColorRole.ToolTipText, QPalette.ColorRole.ToolTipBase
_SHEET = """
    QTabWidget::pane { border: 1px solid palette(mid); background: palette(base); }
    QLineEdit { padding: 5px 8px; border: 1px solid palette(dark); border-radius: 6px; background: palette(base);
                selection-background-color: palette(highlight); selection-color: palette(highlighted-text); }
    QPlainTextEdit[field="true"], QListView[field="true"] {
        border: 1px solid palette(placeholder-text); border-radius: 6px; background: palette(base); }
    QPlainTextEdit[field="true"]:focus, QListView[field="true"]:focus { border: 2px solid palette(accent); }
    QLineEdit:focus { border: 2px solid palette(accent); padding: 4px 7px; }
    QLineEdit[low="true"] { padding: 2px 4px; border-radius: 3px; }
    QLineEdit[low="true"]:focus { padding: 1px 3px; }
    QSplitter::handle { background: palette(mid); }
    QSplitter::handle:horizontal { width: 1px; }
    QSplitter::handle:vertical { height: 1px; }
    QScrollBar:vertical { width: 12px; background: transparent; margin: 0; }
    QScrollBar:horizontal { height: 12px; background: transparent; margin: 0; }
    QScrollBar::handle { background: palette(dark); border-radius: 4px; margin: 2px; }
    QScrollBar::handle:vertical { min-height: 32px; }
    QScrollBar::handle:horizontal { min-width: 32px; }
    QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
    QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
    """


FRAMED = ("QAbstractSpinBox", "QComboBox")
"""Fields whose Fusion frame, a shade of Window, is hardly visible in dark windows."""


def _framing(palette: QPalette) -> QPalette:
    """The Window colour for which Fusion's frame, `darker(140)`, is as visible as that of other fields."""
    found = QPalette(palette)
    found.setColor(QPalette.ColorRole.Window, palette.color(QPalette.ColorRole.Dark).lighter(140))
    return found


class ThemeController(QObject):
    """Sets the palette and the font of an application and follows the desktop's colour scheme.

    Stores its parameters only; nothing changes before `apply`. The style sheet is set again only after a change of
    palette or font, as this re-polishes every widget.
    """

    changed = Signal()

    def __init__(self, app: QApplication, *, scheme: Scheme = Scheme.SYSTEM, point_size: float = 0.0) -> None:
        super().__init__(app)
        self._app = app
        self._scheme = scheme
        self._font = QFont(app.font())
        self._point_size = point_size
        self._applied: Theme | None = None
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._system_changed)

    @property
    def scheme(self) -> Scheme:
        return self._scheme

    @property
    def theme(self) -> Theme:
        """The current theme, from the setting and the desktop."""
        if self._scheme is Scheme.SYSTEM:
            return DARK if QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark else LIGHT
        return DARK if self._scheme is Scheme.DARK else LIGHT

    def set_scheme(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self.apply()

    def set_point_size(self, points: float) -> None:
        """Set the size of the interface font; 0 uses the desktop's."""
        if points != self._point_size:
            self._point_size = points
            self.apply()

    def set_percent(self, percent: int) -> None:
        """Set the size of the interface font in percent of the desktop's."""
        self.set_point_size(0.0 if percent == 100 else self._font.pointSizeF() * percent / 100)

    def apply(self) -> None:
        if self._app.style().name() != "fusion":
            self._app.setStyle("Fusion")
        font = QFont(self._font)
        if self._point_size > 0:
            font.setPointSizeF(self._point_size)
        if self._applied is not self.theme or font != self._app.font():
            self._applied = self.theme
            self._app.setStyleSheet("")  # with a style sheet, existing widgets keep their old palette and font
            self._app.setPalette(self.theme.palette)
            for name in FRAMED:
                self._app.setPalette(_framing(self.theme.palette), name)  # type: ignore[arg-type]  # a str, not bytes
            self._app.setFont(font)
            self._app.setStyleSheet(style_sheet(self.theme, QFontMetrics(font).height()))
        self.changed.emit()

    def _system_changed(self) -> None:
        if self._scheme is Scheme.SYSTEM:
            self.apply()


# Icons drawn in `currentColor`, painted in the palette's text colour at every size and pixel ratio.


def icon_names() -> list[str]:
    """Names of all icons."""
    return sorted(one.name.removesuffix(".svg") for one in files("resources").joinpath("icons").iterdir())


def icon(name: str) -> QIcon:
    """An icon that follows the palette. Raises FileNotFoundError for an unknown name."""
    return QIcon(SvgIconEngine(read_svg(name)))


def read_svg(name: str) -> str:
    return files("resources").joinpath("icons", f"{name}.svg").read_text(encoding="utf-8")


class SvgIconEngine(QIconEngine):
    """Paints one SVG; `currentColor` becomes the application's text colour when it is painted."""

    def __init__(self, svg: str) -> None:
        super().__init__()
        self._svg = svg

    def clone(self) -> QIconEngine:
        return SvgIconEngine(self._svg)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:  # noqa: ARG002
        group = QPalette.ColorGroup.Disabled if mode is QIcon.Mode.Disabled else QPalette.ColorGroup.Active
        role = QPalette.ColorRole.HighlightedText if mode is QIcon.Mode.Selected else QPalette.ColorRole.ButtonText
        colour: QColor = QGuiApplication.palette().color(group, role)
        data = QByteArray(self._svg.replace("currentColor", colour.name()).encode())
        QSvgRenderer(data).render(painter, QRectF(rect))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap
