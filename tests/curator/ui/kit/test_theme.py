import itertools
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QMainWindow,
    QPlainTextEdit,
    QRadioButton,
    QSpinBox,
    QToolTip,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.theme import DARK, LIGHT, Scheme, Theme, ThemeController, contrast, style_sheet, theme_of

ROLE = QPalette.ColorRole
THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
TEXT, LINES = 4.5, 3.0


def test_contrast_of_black_and_white_is_21() -> None:
    assert contrast(QColor("black"), QColor("white")) == pytest.approx(21)
    assert contrast(QColor("#777777"), QColor("white")) == pytest.approx(4.48, abs=0.01)


@THEMES
def test_every_text_reaches_the_contrast_that_wcag_asks_for(theme: Theme) -> None:
    p = theme.palette
    text = p.color(ROLE.Text)
    pairs = {
        "text on base": (text, p.color(ROLE.Base)),
        "text on alternate base": (text, p.color(ROLE.AlternateBase)),
        "text on window": (p.color(ROLE.WindowText), p.color(ROLE.Window)),
        "text on buttons": (p.color(ROLE.ButtonText), p.color(ROLE.Button)),
        "placeholder": (p.color(ROLE.PlaceholderText), p.color(ROLE.Base)),
        "highlighted": (p.color(ROLE.HighlightedText), p.color(ROLE.Highlight)),
        "tooltip": (p.color(ROLE.ToolTipText), p.color(ROLE.ToolTipBase)),
        "link": (p.color(ROLE.Link), p.color(ROLE.Base)),
        "visited link": (p.color(ROLE.LinkVisited), p.color(ROLE.Base)),
        "text on the chosen row": (text, theme.accent_tint),
        "text on a hovered row": (text, theme.hover),
        "text on the selection": (text, theme.selection),
        "note": (theme.note_ink, theme.note),
        **{f"muted on {g.name()}": (theme.muted, g) for g in (p.color(ROLE.Base), p.color(ROLE.Window), theme.hover)},
        "muted on the chosen row": (theme.muted, theme.accent_tint),
        **{f"text on {s.value}": (text, c.tint) for s, c in theme.states.items()},
        **{f"ink of {s.value} on base": (c.ink, p.color(ROLE.Base)) for s, c in theme.states.items()},
        **{f"ink of {s.value} on its tint": (c.ink, c.tint) for s, c in theme.states.items()},
    }
    weak = {name: round(contrast(*pair), 2) for name, pair in pairs.items() if contrast(*pair) < TEXT}
    assert not weak


@THEMES
def test_lines_and_bars_can_be_seen(theme: Theme) -> None:
    base = theme.palette.color(ROLE.Base)
    lines = {s.value: c.line for s, c in theme.states.items()} | {"accent": theme.accent}
    weak = {name: round(contrast(line, base), 2) for name, line in lines.items() if contrast(line, base) < LINES}
    assert not weak


# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB
DEFICIENCIES = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}


def seen(colour: QColor, deficiency: str) -> tuple[float, float, float]:
    """CIE Lab of a colour as it is seen with a deficiency."""

    def linear(c: float) -> float:
        return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4

    rgb = [linear(c) for c in (colour.redF(), colour.greenF(), colour.blueF())]
    r, g, b = (min(max(sum(w * c for w, c in zip(row, rgb, strict=True)), 0), 1) for row in DEFICIENCIES[deficiency])
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@THEMES
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colour_blind_eyes_tell_the_states_apart(theme: Theme, deficiency: str) -> None:
    """A distance of 10 in Lab is several times what is just noticed; the forms of the lines come on top."""
    for one, other in itertools.combinations(MentionState, 2):
        a, b = seen(theme.states[one].line, deficiency), seen(theme.states[other].line, deficiency)
        distance = sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5
        assert distance > 10, f"{one} and {other}: {distance:.1f}"


def test_the_theme_is_told_from_the_palette() -> None:
    assert theme_of(LIGHT.palette) is LIGHT
    assert theme_of(DARK.palette) is DARK


def test_the_controller_applies_scheme_and_font_size(qapp: QApplication) -> None:
    font, sheet = qapp.font(), qapp.styleSheet()
    controller = ThemeController(qapp, scheme=Scheme.DARK, point_size=15)
    controller.apply()
    assert theme_of(qapp.palette()) is DARK
    assert qapp.font().pointSizeF() == 15
    controller.set_scheme(Scheme.LIGHT)
    controller.set_point_size(0)
    assert theme_of(qapp.palette()) is LIGHT
    assert qapp.font().pointSizeF() == font.pointSizeF()
    qapp.setStyleSheet(sheet)
    controller.deleteLater()


def test_widgets_that_are_there_take_the_new_colours(qapp: QApplication, qtbot: QtBot) -> None:
    font, palette, sheet = qapp.font(), qapp.palette(), qapp.styleSheet()
    controller = ThemeController(qapp, scheme=Scheme.LIGHT)
    controller.apply()
    window = QMainWindow()
    qtbot.addWidget(window)
    inner = QPlainTextEdit(window)
    window.setCentralWidget(inner)
    window.show()
    qtbot.waitExposed(window)
    for scheme, theme in ((Scheme.DARK, DARK), (Scheme.LIGHT, LIGHT)):
        controller.set_scheme(scheme)
        assert theme_of(inner.palette()) is theme
        assert inner.palette().color(QPalette.ColorRole.Base) == theme.palette.color(QPalette.ColorRole.Base)
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)
    qapp.setFont(font)
    controller.deleteLater()


def test_tool_tips_are_painted_in_the_colours_of_the_theme(qapp: QApplication, qtbot: QtBot) -> None:
    """Palette roles in the sheet would resolve to the window's colours, and light text be on a light ground."""
    before = qapp.styleSheet()
    try:
        for theme in (LIGHT, DARK):
            qapp.setStyleSheet(style_sheet(theme))
            owner = QWidget()
            qtbot.addWidget(owner)
            owner.show()
            QToolTip.showText(owner.mapToGlobal(QPoint(5, 5)), "words of a tip", owner)
            (tip,) = (one for one in qapp.topLevelWidgets() if one.inherits("QTipLabel"))
            ground = QColor(tip.grab().toImage().pixel(3, 8))
            assert ground == theme.palette.toolTipBase().color()
            assert contrast(ground, theme.palette.toolTipText().color()) >= 4.5
            QToolTip.hideText()
            tip.deleteLater()
    finally:
        qapp.setStyleSheet(before)


@pytest.fixture
def usual(qapp: QApplication) -> Iterator[None]:
    """Afterwards the application looks as before."""
    font, palette, sheet = QFont(qapp.font()), QPalette(qapp.palette()), qapp.styleSheet()
    yield
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)
    qapp.setFont(font)


def marked(kind: type[QCheckBox | QRadioButton], state: Qt.CheckState) -> QWidget:
    made = kind()
    if isinstance(made, QCheckBox):
        made.setTristate(True)
        made.setCheckState(state)
    else:
        made.setChecked(state is Qt.CheckState.Checked)
    return made


@pytest.mark.usefixtures("usual")
@pytest.mark.parametrize("percent", [100, 200])
@pytest.mark.parametrize("scheme", [Scheme.LIGHT, Scheme.DARK])
def test_fields_and_boxes_have_a_frame_that_is_seen(
    qapp: QApplication, qtbot: QtBot, scheme: Scheme, percent: int
) -> None:
    """Ticked or not: 3:1 against the window, and larger with the words."""
    controller = ThemeController(qapp, scheme=scheme)
    controller.set_percent(percent)
    controller.apply()
    top = QWidget()
    qtbot.addWidget(top)
    column, editable = QVBoxLayout(top), QComboBox()
    editable.setEditable(True)
    parts: dict[str, QWidget] = {"spin box": QSpinBox(), "combo box": QComboBox(), "editable combo box": editable}
    for kind, state in itertools.product((QCheckBox, QRadioButton), Qt.CheckState):
        parts[f"{kind.__name__} {state.name}"] = marked(kind, state)
    for one in parts.values():
        column.addWidget(one)
    top.show()
    ground = controller.theme.palette.color(ROLE.Window)
    high = top.fontMetrics().height()
    for name, one in parts.items():
        line = one.grab(one.rect().adjusted(0, 0, high - one.width(), 0)).toImage()
        row = [line.pixelColor(x, line.height() // 2) for x in range(high)]
        assert max(contrast(colour, ground) for colour in row[:4]) >= LINES, name
        if isinstance(one, QCheckBox | QRadioButton):
            places = itertools.product(range(line.height()), range(high))
            seen = [y for y, x in places if contrast(line.pixelColor(x, y), ground) >= LINES]
            assert seen[-1] - seen[0] >= 0.6 * high, name
    controller.set_percent(100)
    controller.deleteLater()


@pytest.mark.usefixtures("usual")
def test_a_chosen_radio_button_is_round(qapp: QApplication, qtbot: QtBot) -> None:
    controller = ThemeController(qapp, scheme=Scheme.DARK)
    controller.apply()
    button = marked(QRadioButton, Qt.CheckState.Checked)
    qtbot.addWidget(button)
    button.show()
    image, accent = button.grab().toImage(), DARK.accent.name()
    places = itertools.product(range(button.height() + 4), range(button.height()))
    full = [(x, y) for x, y in places if image.valid(x, y) and image.pixelColor(x, y).name() == accent]
    left, top = min(x for x, _ in full), min(y for _, y in full)
    assert (left, top) not in full, "a corner is drawn"
    controller.deleteLater()


@pytest.mark.parametrize("turn", [1, 2])
def test_nothing_of_one_test_s_looks_reaches_the_next(qapp: QApplication, turn: int) -> None:
    """The first leaves the program's own looks behind on purpose; the second begins without them."""
    assert qapp.styleSheet() == ""
    for one in (QSpinBox(), QComboBox(), QWidget()):
        assert one.palette().color(ROLE.Window) == LIGHT.palette.color(ROLE.Window)
    usual = qapp.font().pointSizeF()
    controller = ThemeController(qapp, scheme=Scheme.DARK, point_size=30)
    if turn == 1:
        controller.apply()
    assert (usual < 20, qapp.styleSheet() != "") == (True, turn == 1)
    controller.deleteLater()
