"""*Model > Retrain*: which recipe, what it will learn from, how long it will take, its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from curator.services.recipes import Parameter, Recipe
from curator.services.retraining import TrainingPreview
from curator.settings.schema import Device
from curator.ui.dialogs.form import FormDialog, sentence
from curator.ui.dialogs.parameters import parameter_field, parameter_value

INTRO = (
    "A recipe learns from the link and NIL decisions of the train documents, in the background. The bundle it makes "
    "serves unless recall@1 on held-out validation documents falls."
)
PREVIEW_MS = 250


@dataclass(frozen=True, slots=True)
class TrainingWish:
    """`max_minutes` None: no time budget."""

    recipe: str
    parameters: Mapping[str, Any]
    seed: int
    device: str
    max_minutes: float | None


class RetrainDialog(FormDialog):
    """`preview_wanted` asks for a preview of (recipe, parameters, device); `show_preview` takes the answer."""

    preview_wanted = Signal(str, object, str)

    def __init__(self, recipes: Sequence[Recipe], *, device: str = "auto", parent: QWidget | None = None) -> None:
        super().__init__("Retrain", intro=INTRO, ok="Start training", parent=parent)
        self._recipes = list(recipes)
        self._preview: TrainingPreview | None = None
        self.fields: dict[str, QWidget] = {}
        self.list = QListWidget(self)
        self.list.setAccessibleName("Recipes")
        self.list.setWordWrap(True)
        self.list.setSpacing(3)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.description = sentence("")
        self.description.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.learns = sentence("")
        self.learns.setAccessibleName("What it will learn from")
        self.parameters = QScrollArea(self)
        self.parameters.setWidgetResizable(True)
        self.parameters.setAccessibleName("Parameters")
        self._timer = QTimer(self, singleShot=True, interval=PREVIEW_MS)
        self._timer.timeout.connect(self._ask_preview)
        self._make_run_fields(device)
        self._compose()
        for recipe in self._recipes:
            QListWidgetItem(recipe.title, self.list)
        self.list.currentRowChanged.connect(self._show_recipe)
        self.list.setCurrentRow(0)
        self.list.setFocus()

    def _make_run_fields(self, device: str) -> None:
        self.seed = QSpinBox(self)
        self.seed.setRange(0, 2**31 - 1)
        self.device = QComboBox(self)
        self.device.addItems([one.value for one in Device])
        self.device.setCurrentText(device)
        self.limited = QCheckBox("stop after", self)
        self.minutes = QSpinBox(self)
        self.minutes.setRange(1, 24 * 60)
        self.minutes.setValue(20)
        self.minutes.setSuffix(" minutes")
        self.minutes.setEnabled(False)
        for widget, name in (
            (self.seed, "Seed"),
            (self.device, "Device"),
            (self.limited, "Time budget"),
            (self.minutes, "Minutes at most"),
        ):
            widget.setAccessibleName(name)
        self.limited.toggled.connect(self.minutes.setEnabled)
        self.device.currentIndexChanged.connect(lambda: self._timer.start())

    def _compose(self) -> None:
        left = QVBoxLayout()
        left.addWidget(self.list, 1)
        right = QVBoxLayout()
        right.setSpacing(12)
        right.addWidget(self.description)
        learns = QGroupBox("It will learn from", self)
        QVBoxLayout(learns).addWidget(self.learns)
        right.addWidget(learns)
        right.addWidget(self.parameters, 1)
        columns = QHBoxLayout()
        columns.setSpacing(16)
        columns.addLayout(left, 3)
        columns.addLayout(right, 6)
        self.body.insertLayout(0, columns, 1)
        budget = QHBoxLayout()
        budget.addWidget(self.limited)
        budget.addWidget(self.minutes)
        budget.addStretch(1)
        self.form.addRow("&Seed", self.seed)
        self.form.addRow("&Device", self.device)
        self.form.addRow("Time budget", budget)
        self.resize(860, 680)

    # --- the recipe ---

    @property
    def recipe(self) -> Recipe:
        return self._recipes[max(self.list.currentRow(), 0)]

    def _show_recipe(self) -> None:
        recipe = self.recipe
        cited = f"\n{recipe.citation}" if recipe.citation else ""
        self.description.setText(recipe.description + cited)
        self.fields = {one.name: parameter_field(one, self._edited) for one in recipe.parameters}
        panel = QWidget()
        rows = QFormLayout(panel)
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for one in recipe.parameters:
            rows.addRow(_label(one), self.fields[one.name])
        self.parameters.setWidget(panel)
        self._preview = None
        self.learns.setText("Counting the decisions…")
        self.ok.setEnabled(False)
        self._ask_preview()

    def _edited(self) -> None:
        self._timer.start()

    def _ask_preview(self) -> None:
        self._timer.stop()
        self.preview_wanted.emit(self.recipe.id, self.values, self.device.currentText())

    def show_preview(self, recipe: str, preview: TrainingPreview | None, *, problem: str = "") -> None:
        """The answer to `preview_wanted`; `problem` says why there is none. One for another recipe is dropped."""
        if recipe != self.recipe.id:
            return
        self._preview = preview
        self.learns.setText(preview_words(preview) if preview is not None else problem)
        self.ok.setEnabled(preview is not None and not preview.problem)
        self.problem.set_note(preview.problem if preview is not None else "")

    # --- the wish ---

    @property
    def values(self) -> dict[str, Any]:
        return {one.name: parameter_value(self.fields[one.name]) for one in self.recipe.parameters}

    @property
    def wish(self) -> TrainingWish:
        budget = float(self.minutes.value()) if self.limited.isChecked() else None
        return TrainingWish(self.recipe.id, self.values, self.seed.value(), self.device.currentText(), budget)

    def check(self) -> str:
        return self._preview.problem if self._preview is not None else "The decisions are still being counted."


def preview_words(preview: TrainingPreview) -> str:
    """What it will learn from, what judges it, how long it takes and how that is known."""
    minutes = "less than a minute" if preview.minutes < 1 else f"about {preview.minutes:.0f} minutes"
    return (
        f"{preview.links:,} links and {preview.nils:,} NIL decisions in {preview.documents:,} train documents, "
        f"{preview.entities:,} different entities.\n"
        f"Judged on {preview.validation_decisions:,} decisions in {preview.validation_documents:,} validation "
        f"documents.\nOn this machine it takes {minutes} ({preview.basis})."
    )


def _label(parameter: Parameter) -> QWidget:
    label = sentence(parameter.title)
    label.setWordWrap(False)
    published = "" if parameter.paper is None else f" Published: {parameter.paper}."
    label.setToolTip(parameter.help + published)
    return label
