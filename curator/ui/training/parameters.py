"""A field for one parameter of a recipe, made from its description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QLocale
from PySide6.QtGui import QDoubleValidator
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QSpinBox, QWidget

from resources.recipe_files import Parameter

MOST = 2**31 - 1


class NumberEdit(QLineEdit):
    """A number that spans magnitudes, such as a learning rate; what is no number counts as the last that was one."""

    def __init__(self, value: float, *, minimum: float | None, maximum: float | None) -> None:
        super().__init__(f"{value:g}")
        self.setProperty("low", True)  # no higher than the spin boxes above and below
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
    """`edited` is called after each change."""
    field = _make(parameter, edited)
    field.setToolTip(parameter.help)
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
