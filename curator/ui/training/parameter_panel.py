"""The collapsible parameters of a recipe: grouped fields, published values next to them, and buttons to restore
them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QDoubleValidator
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLineEdit,
    QScrollArea,
    QSpinBox,
    QToolButton,
    QWidget,
)

from curator.domain.wording import tr
from curator.ui.kit.compose import Part, button, column, row
from curator.ui.kit.foreign_text import PlainLabel, tip
from curator.ui.kit.form import guard_from_wheel, sentence
from resources.recipe_files import Parameter, Recipe

# A field for one parameter of a recipe, made from its description.

MOST = 2**31 - 1


class NumberEdit(QLineEdit):
    """A field for numbers of any magnitude, such as a learning rate; invalid text counts as the last valid number."""

    def __init__(self, value: float, *, minimum: float | None, maximum: float | None) -> None:
        super().__init__(f"{value:g}")
        self.setProperty("low", True)  # as high as the spin boxes around it
        self._value = value
        low = -1e300 if minimum is None else minimum
        high = 1e300 if maximum is None else maximum
        validator = QDoubleValidator(low, high, 12, self)
        validator.setLocale(QLocale.c())  # `0.01` everywhere, as in the papers and on the command line
        self.setValidator(validator)
        self.textEdited.connect(self._take)

    def _take(self, text: str) -> None:
        if self.hasAcceptableInput():
            self._value = float(text)

    @property
    def value(self) -> float:
        return self._value

    def set_value(self, value: float) -> None:
        self._value = value
        self.setText(f"{value:g}")


def parameter_field(parameter: Parameter, edited: Callable[[], None]) -> QWidget:
    """The field of a parameter; `edited` is called after each change."""
    field = _make(parameter, edited)
    field.setToolTip(tip(parameter.help))
    field.setAccessibleName(parameter.title)
    field.setAccessibleDescription(parameter.help)
    return field


def _make(parameter: Parameter, edited: Callable[[], None]) -> QWidget:
    if parameter.kind == "bool":
        tick = QCheckBox()
        tick.setChecked(bool(parameter.default))
        tick.toggled.connect(lambda: edited())
        return tick
    if parameter.kind == "choice":
        box = QComboBox()
        box.addItems(list(parameter.choices))
        box.setCurrentText(str(parameter.default))
        box.currentIndexChanged.connect(lambda: edited())
        return box
    if parameter.kind == "int":
        number = QSpinBox()
        number.setRange(*(_whole(one, MOST * sign) for one, sign in ((parameter.minimum, -1), (parameter.maximum, 1))))
        number.setValue(int(parameter.default))
        number.valueChanged.connect(lambda: edited())
        return number
    line = NumberEdit(float(parameter.default), minimum=parameter.minimum, maximum=parameter.maximum)
    line.textEdited.connect(lambda: edited())
    return line


def _whole(value: float | None, otherwise: int) -> int:
    return otherwise if value is None else int(value)


def parameter_value(field: QWidget) -> Any:
    if isinstance(field, QCheckBox):
        return field.isChecked()
    if isinstance(field, QComboBox):
        return field.currentText()
    if isinstance(field, QSpinBox):
        return field.value()
    assert isinstance(field, NumberEdit)
    return field.value


GROUPS = {
    "Optimiser": ("epochs", "batch_size", "learning_rate", "warmup", "weight_decay", "clip"),
    "Memory and numbers": ("accumulation", "precision"),
    "Texts": ("mention_tokens", "entity_tokens", "style", "synonyms"),
    "Encoders": ("entity_tower", "layers", "projection", "freeze_embeddings"),
    "Negatives": ("negatives", "negative_count", "mined_share", "domain", "sharing", "in_batch"),
    "Candidates": ("candidates", "learnt_mentions", "learnt_share", "asked_share", "seconds_per_document"),
}
PARTS = {"loss": "Loss", "regulariser": "Regulariser", "grouping": "Clusters of mentions"}
OTHERS = "Others"


class ParameterPanel(QWidget):
    """`edited` is emitted after each change of a value."""

    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._recipe: Recipe | None = None
        self.fields: dict[str, QWidget] = {}
        self.fold = QToolButton(self)
        self.fold.setCheckable(True)
        self.fold.setAutoRaise(True)
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.fold.setArrowType(Qt.ArrowType.RightArrow)
        self.published = button(tr("Use the &published values"), lambda: self._take(_published), parent=self)
        self.own = button(tr("Use the &recipe's values"), lambda: self._take(lambda one: one.default), parent=self)
        self.area = QScrollArea(self)
        self.area.setWidgetResizable(True)
        self.area.setAccessibleName(tr("Parameters"))
        head = row(self.fold, 1, self.published, self.own)
        column(head, (self.area, 1), of=self)
        self.fold.toggled.connect(self._folded)
        self._folded(shown=False)

    def _folded(self, shown: bool) -> None:
        self.fold.setArrowType(Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow)
        for part in (self.area, self.published, self.own):
            part.setVisible(shown)
        self.published.setEnabled(self._recipe is not None and bool(self._recipe.paper))

    # --- the recipe ---

    def show_recipe(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self.fold.setText(tr("Parameters ({n})", n=len(recipe.parameters)))
        self.fold.setAccessibleName(tr("Parameters"))
        self.fields = {one.name: parameter_field(one, self._edited) for one in recipe.parameters}
        parts: list[Part] = []
        for title, parameters in parameter_groups(recipe.parameters):
            heading = PlainLabel(tr(title))
            font = heading.font()
            font.setBold(True)
            heading.setFont(font)
            parts += [heading, self._rows(parameters)]
        panel = QWidget()
        column(*parts, 1, of=panel, margins=None)
        self.area.setWidget(panel)
        guard_from_wheel(panel)
        self.published.setEnabled(bool(recipe.paper))

    def _rows(self, parameters: Sequence[Parameter]) -> QFormLayout:
        rows = QFormLayout()
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows.setContentsMargins(12, 0, 0, 8)
        for one in parameters:
            line = row((self.fields[one.name], 2), (sentence(published_words(one), muted=True), 3))
            label = sentence(one.title)
            label.setWordWrap(False)
            label.setToolTip(tip(one.help))
            label.setBuddy(self.fields[one.name])
            rows.addRow(label, line)
        return rows

    @property
    def values(self) -> dict[str, Any]:
        return {name: parameter_value(field) for name, field in self.fields.items()}

    def _edited(self) -> None:
        self.edited.emit()

    def _take(self, value_of: Callable[[Parameter], Any]) -> None:
        for one in self._recipe.parameters if self._recipe is not None else ():
            set_value(self.fields[one.name], value_of(one))
        self.edited.emit()


def _published(parameter: Parameter) -> Any:
    """The published values, or the recipe's if not published."""
    return parameter.default if parameter.paper is None else parameter.paper


def parameter_groups(parameters: Sequence[Parameter]) -> list[tuple[str, list[Parameter]]]:
    """(heading, parameters) in display order; every parameter once."""
    place = {name: title for title, names in GROUPS.items() for name in names}
    found: dict[str, list[Parameter]] = {title: [] for title in (*GROUPS, *PARTS.values(), OTHERS)}
    for one in parameters:
        found[PARTS.get(one.group) or place.get(one.name, OTHERS)].append(one)
    return [(title, group) for title, group in found.items() if group]


def published_words(parameter: Parameter) -> str:
    """`as published`, `published: 1e-05`, or '' if not published."""
    if parameter.paper is None:
        return ""
    if parameter.paper == parameter.default:
        return tr("as published")
    return tr("published: {value_words}", value_words=value_words(parameter.paper))


def value_words(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def set_value(field: QWidget, value: Any) -> None:
    """Set the value of a parameter's field."""
    if isinstance(field, QCheckBox):
        field.setChecked(bool(value))
    elif isinstance(field, QComboBox):
        field.setCurrentText(str(value))
    elif isinstance(field, QSpinBox):
        field.setValue(int(value))
    else:
        assert isinstance(field, NumberEdit)
        field.set_value(float(value))
