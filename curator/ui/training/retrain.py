"""*Model > Retrain*: which recipe, what it will learn from, how long it will take, and only then its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGroupBox,
    QHBoxLayout,
    QSpinBox,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from curator.domain.wording import ntr, tr
from curator.services.training import FIT, NAMES, Recipe, TrainingPreview, grouped
from curator.settings import DeviceChoice
from curator.ui.jobs import range_words
from curator.ui.kit import FlowRow, FormDialog, sentence
from curator.ui.training.parameter_panel import ParameterPanel

INTRO = (
    "A recipe learns from the link and NIL decisions of the train documents, in the background. The bundle it makes "
    "serves only if the linker is then surely better on held-out validation documents."
)
PREVIEW_MS = 250
COUNTING = "Counting the decisions…"
ROLES = {
    FIT: "Nothing is trained",
    "names": "The encoder that compares names",
    "retriever": "Retrievers find candidates",
    "ranker": "Re-rankers order them",
}
QUICK_OR_NOT = {True: "Quick: minutes on two cores", False: "As published: hours, or a GPU"}
RECIPE_ROLE = int(Qt.ItemDataRole.UserRole)
ENCODING = "Encoding {encoded_entities:,} entities again: {duration_words}."
ENCODING_NAMES = "Encoding the names of {encoded_entities:,} entities again: {duration_words}."
FORECAST = (
    "In all {time} on this machine ({basis}). Other programs make it longer; once the training runs, the time left is "
    "measured and shown within 20 seconds."
)


@dataclass(frozen=True, slots=True)
class TrainingWish:
    """`max_minutes` None: no time budget."""

    recipe: str
    parameters: Mapping[str, Any]
    seed: int
    device: str
    max_minutes: float | None
    tensorboard: bool = False


class RetrainDialog(FormDialog):
    """`preview_wanted` asks for a preview of (recipe, parameters, device, minutes at most); `show_preview` takes the
    answer."""

    preview_wanted = Signal(str, object, str, object)

    def __init__(self, recipes: Sequence[Recipe], *, device: str = "auto", parent: QWidget | None = None) -> None:
        super().__init__(tr("Retrain"), intro=tr(INTRO), ok=tr("Start training"), parent=parent)
        self._recipes = {one.id: one for one in recipes}
        self._chosen = next(iter(self._recipes))
        self._preview: TrainingPreview | None = None
        self.tree = QTreeWidget(self)
        self.tree.setAccessibleName(tr("Recipes"))
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(14)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.description = sentence("")
        self.description.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.citation = sentence("", muted=True)
        self.learns = sentence("")
        self.learns.setAccessibleName(tr("What it will learn from"))
        self.takes = sentence("")
        self.takes.setAccessibleName(tr("How long it will take"))
        self.expects = sentence("")
        self.expects.setAccessibleName(tr("What it may bring"))
        self.parameters = ParameterPanel(self)
        self._timer = QTimer(self, singleShot=True, interval=PREVIEW_MS)
        self._timer.timeout.connect(self.ask_preview)
        self._make_run_fields(device)
        self._compose()
        self._fill_tree(list(recipes))
        self.parameters.edited.connect(lambda: self._timer.start())
        self.tree.currentItemChanged.connect(self._choose)
        self._show_recipe()
        self.tree.setFocus()

    def _make_run_fields(self, device: str) -> None:
        self.seed = QSpinBox(self)
        self.seed.setRange(0, 2**31 - 1)
        self.device = QComboBox(self)
        self.device.addItems([one.value for one in DeviceChoice])
        self.device.setCurrentText(device)
        self.limited = QCheckBox(tr("stop after"), self)
        self.minutes = QSpinBox(self)
        self.minutes.setRange(1, 24 * 60)
        self.minutes.setValue(20)
        self.minutes.setSuffix(tr(" minutes"))
        self.minutes.setEnabled(False)
        for widget, name in (
            (self.seed, tr("Seed")),
            (self.device, tr("Device")),
            (self.limited, tr("Time budget")),
            (self.minutes, tr("Minutes at most")),
        ):
            widget.setAccessibleName(name)
        self.tensorboard = QCheckBox(tr("TensorBoard files"), self)
        self.tensorboard.setToolTip(tr("Write the live figures into the project's folder tensorboard, too."))
        self.limited.toggled.connect(self.minutes.setEnabled)
        for changed in (self.limited.toggled, self.minutes.valueChanged, self.device.currentIndexChanged):
            changed.connect(lambda: self._timer.start())

    def _compose(self) -> None:
        right = QVBoxLayout()
        right.setSpacing(12)
        right.addWidget(self.description)
        right.addWidget(self.citation)
        for title, words in (
            (tr("It will learn from"), self.learns),
            (tr("It may bring"), self.expects),
            (tr("It will take"), self.takes),
        ):
            box = QGroupBox(title, self)
            QVBoxLayout(box).addWidget(words)
            right.addWidget(box)
        right.addWidget(self.parameters)
        self._rest = QWidget(self)
        right.addWidget(self._rest, 1)
        columns = QHBoxLayout()
        columns.setSpacing(16)
        columns.addWidget(self.tree, 5)
        columns.addLayout(right, 7)
        self.body.insertLayout(0, columns, 1)
        self.parameters.fold.toggled.connect(self._give_room)
        on, seed = (sentence(words) for words in (tr("on"), tr("with the seed")))
        for label in (on, seed):
            label.setWordWrap(False)
        run = FlowRow(self.limited, self.minutes, on, self.device, seed, self.seed, self.tensorboard)
        self.form.addRow(tr("This run"), run)
        self.resize(1080, 740)

    def _give_room(self, shown: bool) -> None:
        """The parameters take what room there is while they are shown."""
        self._rest.setVisible(not shown)

    def _fill_tree(self, recipes: list[Recipe]) -> None:
        """What starts from the linker as it is, open; the papers' recipes folded beneath."""
        own = {role: members for role, members in grouped(recipes) if role in (FIT, NAMES)}
        for role, members in own.items():
            heading = self._heading(self.tree, tr(ROLES[role]))
            self._leaves(heading, members)
            heading.setExpanded(True)
        research = self._heading(self.tree, tr("Research recipes"))
        for role, members in grouped(recipes):
            if role not in own:
                heading = self._heading(research, tr(ROLES.get(role, role)))
                for quick, words in QUICK_OR_NOT.items():
                    if part := [one for one in members if one.quick is quick]:
                        branch = QTreeWidgetItem(heading, [tr(words)])
                        branch.setFlags(Qt.ItemFlag.ItemIsEnabled)
                        self._leaves(branch, part)
                        branch.setExpanded(quick)
                heading.setExpanded(True)
        self._chosen = next(iter(own.values()))[0].id if own else recipes[0].id
        self.choose(self._chosen)

    def _heading(self, above: QTreeWidget | QTreeWidgetItem, words: str) -> QTreeWidgetItem:
        heading = QTreeWidgetItem(above, [words])
        heading.setFlags(Qt.ItemFlag.ItemIsEnabled)
        font = heading.font(0)
        font.setBold(True)
        heading.setFont(0, font)
        return heading

    def _leaves(self, branch: QTreeWidgetItem, recipes: Sequence[Recipe]) -> None:
        for one in recipes:
            leaf = QTreeWidgetItem(branch, [tr(one.title.removesuffix(", quick"))])
            leaf.setData(0, RECIPE_ROLE, one.id)
            leaf.setToolTip(0, f"{one.system or tr(one.title)}: {one.id}")

    # --- the recipe ---

    @property
    def recipe(self) -> Recipe:
        """The chosen one; going over a heading keeps the one before."""
        return self._recipes[self._chosen]

    def _choose(self, item: QTreeWidgetItem | None) -> None:
        found = item.data(0, RECIPE_ROLE) if item is not None else None
        if found:
            self._chosen = str(found)
            self._show_recipe()

    def choose(self, recipe_id: str) -> None:
        """Go to a recipe; its headings open."""
        found = self.tree.findItems("*", Qt.MatchFlag.MatchWildcard | Qt.MatchFlag.MatchRecursive)
        self.tree.setCurrentItem(next(item for item in found if item.data(0, RECIPE_ROLE) == recipe_id))

    @property
    def fields(self) -> dict[str, QWidget]:
        return self.parameters.fields

    def _show_recipe(self) -> None:
        recipe = self.recipe
        self.description.setText(tr(recipe.description))
        self.citation.setText(recipe.citation)
        self.citation.setVisible(bool(recipe.citation))
        self.parameters.show_recipe(recipe)
        self._preview = None
        self.learns.setText(tr(COUNTING))
        self.takes.setText("")
        self.expects.setText("")
        self.ok.setEnabled(False)
        self.ask_preview()

    def ask_preview(self) -> None:
        """Ask for the preview of what is chosen now."""
        self._timer.stop()
        self.preview_wanted.emit(self.recipe.id, self.values, self.device.currentText(), self._budget)

    def show_preview(self, recipe: str, preview: TrainingPreview | None, *, problem: str = "") -> None:
        """The answer to `preview_wanted`; `problem` says why there is none. One for another recipe is dropped."""
        if recipe != self.recipe.id:
            return
        self._preview = preview
        self.learns.setText(learns_words(preview) if preview is not None else problem)
        self.takes.setText(time_words(preview) if preview is not None else "")
        self.expects.setText(preview.expects if preview is not None else "")
        self.ok.setEnabled(preview is not None and not preview.problem)
        self.problem.set_note(preview.problem if preview is not None else "")

    # --- the wish ---

    @property
    def values(self) -> dict[str, Any]:
        return self.parameters.values

    @property
    def _budget(self) -> float | None:
        return float(self.minutes.value()) if self.limited.isChecked() else None

    @property
    def wish(self) -> TrainingWish:
        return TrainingWish(
            self.recipe.id,
            self.values,
            self.seed.value(),
            self.device.currentText(),
            self._budget,
            self.tensorboard.isChecked(),
        )

    def check(self) -> str:
        return self._preview.problem if self._preview is not None else tr("The decisions are still being counted.")


def learns_words(preview: TrainingPreview) -> str:
    """What it will learn from, what judges it, and what is left alone."""
    if preview.in_turn:
        return tr(
            "{links:,} links and {nils:,} NIL decisions in {documents:,} train and validation documents; each document "
            "is judged by what the others say. The {test_documents:,} test documents are never looked at.",
            links=preview.links,
            nils=preview.nils,
            documents=preview.documents,
            test_documents=preview.test_documents,
        )
    lines = [
        tr(
            "{links:,} links and {nils:,} NIL decisions in {documents:,} train documents, "
            "{entities:,} different entities.",
            links=preview.links,
            nils=preview.nils,
            documents=preview.documents,
            entities=preview.entities,
        )
        if preview.nils
        else tr(
            "{links:,} links in {documents:,} train documents, {entities:,} different entities.",
            links=preview.links,
            documents=preview.documents,
            entities=preview.entities,
        )
    ]
    if preview.left_out:
        lines.append(
            ntr(
                "The loss leaves {n} NIL decision out.",
                "The loss leaves {n:,} NIL decisions out.",
                preview.left_out,
            )
        )
    if preview.passed_over:
        lines.append(
            ntr(
                "{n} candidate that was shown and passed over, as a hard negative.",
                "{n:,} candidates that were shown and passed over, as hard negatives.",
                preview.passed_over,
            )
        )
    if preview.outside:
        lines.append(
            ntr(
                "{n} linked entity is not in the knowledge base; its links teach nothing.",
                "{n:,} linked entities are not in the knowledge base; their links teach nothing.",
                preview.outside,
            )
        )
    return "\n".join([*lines, judges_words(preview)])


def judges_words(preview: TrainingPreview) -> str:
    """What judges the result."""
    return (
        tr(
            "No validation document is decided: a fifth of these documents judges the result and teaches nothing. The "
            "{test_documents:,} test documents are never looked at.",
            test_documents=preview.test_documents,
        )
        if not preview.validation_decisions
        else tr(
            "Judged on {validation_decisions:,} decisions in {validation_documents:,} validation documents"
            "{judged_words}. The {test_documents:,} test documents are never looked at.",
            validation_decisions=preview.validation_decisions,
            validation_documents=preview.validation_documents,
            judged_words=judged_words(preview),
            test_documents=preview.test_documents,
        )
    )


def judged_words(preview: TrainingPreview) -> str:
    """That a quick recipe is judged on fewer, where it is."""
    return (
        tr(", on {judged_at_most} links of them", judged_at_most=preview.judged_at_most)
        if preview.judged_at_most
        else ""
    )


def time_words(preview: TrainingPreview) -> str:
    """First what encoding entities or names again takes, then the whole, and how that is known."""
    whole = tr(FORECAST, time=range_words(60 * preview.least, 60 * preview.most), basis=preview.basis)
    if not preview.encoded_entities:
        return whole
    encoding = tr(
        ENCODING_NAMES if preview.over_names else ENCODING,
        encoded_entities=preview.encoded_entities,
        duration_words=duration_words(preview.encoding_seconds),
    )
    return tr("{encoding}\n{whole} The bundle in use serves until then.", encoding=encoding, whole=whole)


def duration_words(seconds: float) -> str:
    """`less than a minute`, `about 4 min`, `about 3 h 20 min`, `about 2 days`."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return tr("less than a minute")
    if minutes < 90:
        return tr("about {minutes} min", minutes=minutes)
    if minutes < 36 * 60:
        return tr("about {hours} h {minutes:02d} min", hours=minutes // 60, minutes=minutes % 60 // 10 * 10)
    return tr("about {n:.0f} days", n=minutes / (24 * 60))
