"""*Model > Retrain*: training data, expected gain, duration, and one button.

The first tab offers recipes that start from the linker in use; the second has all recipes and their parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGroupBox,
    QRadioButton,
    QSpinBox,
    QTabWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from curator.domain.wording import ntr, tr
from curator.services.training.recipes import CONTEXT, FIT, NAMES, grouped
from curator.services.training.retraining import TrainingPreview
from curator.settings.schema import DeviceChoice
from curator.ui.jobs.jobs import range_words
from curator.ui.kit.compose import column, row
from curator.ui.kit.foreign_text import tip
from curator.ui.kit.form import FormDialog, sentence
from curator.ui.kit.sizing import FlowRow
from curator.ui.training.parameter_panel import ParameterPanel
from resources.recipe_files import Recipe

INTRO = (
    "The linker learns from your decisions in train documents, in the background. The new linker is used only if a "
    "check on held-out documents finds it better."
)

OFFERED = {
    NAMES: (
        "Learn wordings and conventions",
        "Learns which entity is meant by strings that are no name in the knowledge base, and adjusts all scores to "
        "your decisions. Takes minutes: every name is encoded again.",
    ),
    FIT: (
        "Learn conventions only",
        "Adjusts the scores of spelling, memory, hierarchy and NIL to your decisions. No network is trained, so this "
        "takes seconds to a few minutes.",
    ),
}
CONTEXT_TITLE = "Learn from the context"
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
    """`preview_wanted` requests a preview of (recipe, parameters); `show_preview` shows the answer."""

    preview_wanted = Signal(str, object)

    def __init__(self, recipes: Sequence[Recipe], *, device: str = "auto", parent: QWidget | None = None) -> None:
        super().__init__(tr("Retrain"), intro=tr(INTRO), ok=tr("Start training"), parent=parent)
        self._recipes = {one.id: one for one in recipes}
        self._offered = offered(recipes)
        self._chosen = next(iter(self._offered))
        self._preview: TrainingPreview | None = None
        self.tabs = QTabWidget(self)
        self.radios = {
            id_: QRadioButton(tr(CONTEXT_TITLE) if id_ == CONTEXT else tr(OFFERED[one.role][0]), self)
            for id_, one in self._offered.items()
        }
        self.context = sentence("", muted=True)
        self.context.setAccessibleName(tr("Why the context is recommended"))
        self.tree = QTreeWidget(self)
        self.tree.setAccessibleName(tr("Recipes"))
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(14)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.description = sentence("")
        self.description.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.citation = sentence("", muted=True)
        self.learns = sentence("")
        self.learns.setAccessibleName(tr("What it learns from"))
        self.takes = sentence("")
        self.takes.setAccessibleName(tr("How long it takes"))
        self.expects = sentence("")
        self.expects.setAccessibleName(tr("Which result to expect"))
        self.parameters = ParameterPanel(self)
        self._timer = QTimer(self, singleShot=True, interval=PREVIEW_MS)
        self._timer.timeout.connect(self.ask_preview)
        self._usual_device = device
        self._make_run_fields(device)
        self._compose()
        self._fill_tree(list(recipes))
        self.choose(self._chosen)
        self.parameters.edited.connect(lambda: self._timer.start())
        self.tree.currentItemChanged.connect(self._choose)
        for id_, radio in self.radios.items():
            radio.clicked.connect(lambda _=False, id_=id_: self.choose(id_))
        self.tabs.currentChanged.connect(self._turned)
        self._show_recipe()
        self.radios[self._chosen].setFocus()

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
            (self.minutes, tr("Maximum minutes")),
        ):
            widget.setAccessibleName(name)
        self.tensorboard = QCheckBox(tr("TensorBoard files"), self)
        self.tensorboard.setToolTip(tr("Also write live figures to the project's tensorboard folder."))
        self.limited.toggled.connect(self.minutes.setEnabled)

    def _compose(self) -> None:
        boxes = []
        for title, words in (
            (tr("It learns from"), self.learns),
            (tr("Expected result"), self.expects),
            (tr("It takes"), self.takes),
        ):
            box = QGroupBox(title, self)
            column(words, of=box, margins=None)
            boxes.append(box)
        self._rest = QWidget(self)
        right = column(self.description, self.citation, *boxes, self.parameters, (self._rest, 1), spacing=12)
        self.tabs.addTab(self._simple_page(), tr("Recommended"))
        self.tabs.addTab(self.tree, tr("All recipes"))
        self.body.insertLayout(0, row((self.tabs, 5), (right, 7), spacing=16), 1)
        self.parameters.fold.toggled.connect(self._give_room)
        on, seed = (sentence(words) for words in (tr("on"), tr("with the seed")))
        for label in (on, seed):
            label.setWordWrap(False)
        self.run = FlowRow(self.limited, self.minutes, on, self.device, seed, self.seed, self.tensorboard)
        self.form.addRow(tr("This run"), self.run)
        self.resize(1080, 740)

    @property
    def _simple(self) -> bool:
        """Whether the first tab is shown: the settings in the second are then ignored."""
        return self.tabs.currentIndex() == 0

    def _simple_page(self) -> QWidget:
        page = QWidget(self)
        rows = QVBoxLayout(page)
        for id_, recipe in self._offered.items():
            rows.addWidget(self.radios[id_])
            rows.addWidget(self.context if id_ == CONTEXT else sentence(tr(OFFERED[recipe.role][1]), muted=True))
            rows.addSpacing(12)
        rows.addStretch(1)
        self._recommend("")
        return page

    def _recommend(self, context: str) -> None:
        """Recommend the recipe for the context second, with this reason; '' does not recommend it."""
        self.context.setText(context)
        self.context.setVisible(bool(context))
        if CONTEXT in self.radios:
            self.radios[CONTEXT].setVisible(bool(context))

    def _recommends(self, recipe_id: str) -> bool:
        return recipe_id in self.radios and not self.radios[recipe_id].isHidden()

    def _turned(self, page: int) -> None:
        """On the first tab, choose its recipe with the default values."""
        if page == 0 and not self._recommends(self._chosen):
            self.choose(next(id_ for id_, radio in self.radios.items() if radio.isChecked()))
        self._show_recipe()

    def _give_room(self, shown: bool) -> None:
        """Give the parameters the available space while they are shown."""
        self._rest.setVisible(not shown)

    def _fill_tree(self, recipes: list[Recipe]) -> None:
        """Fill the tree: recipes starting from the current linker, expanded; the papers' recipes collapsed below."""
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
            leaf.setToolTip(0, tip(f"{one.system or tr(one.title)}: {one.id}"))

    # --- the recipe ---

    @property
    def recipe(self) -> Recipe:
        """The chosen recipe; a heading keeps the previous choice."""
        return self._recipes[self._chosen]

    def _choose(self, item: QTreeWidgetItem | None) -> None:
        found = item.data(0, RECIPE_ROLE) if item is not None else None
        if found:
            self._chosen = str(found)
            self._show_recipe()

    def choose(self, recipe_id: str) -> None:
        """Select a recipe and expand its headings; switch to the second tab if the first does not offer it."""
        if self._recommends(recipe_id):
            self.radios[recipe_id].setChecked(True)
        else:
            self.tabs.setCurrentWidget(self.tree)
        found = self.tree.findItems("*", Qt.MatchFlag.MatchWildcard | Qt.MatchFlag.MatchRecursive)
        self.tree.setCurrentItem(next(item for item in found if item.data(0, RECIPE_ROLE) == recipe_id))

    @property
    def fields(self) -> dict[str, QWidget]:
        return self.parameters.fields

    def _show_recipe(self) -> None:
        recipe = self.recipe
        self.description.setText(tr(recipe.summary))
        self.citation.setText(recipe.citation)
        simple = self._simple
        self.description.setVisible(not simple)
        self.citation.setVisible(bool(recipe.citation) and not simple)
        self.parameters.setVisible(not simple)
        self.form.setRowVisible(self.run, not simple)
        self.parameters.show_recipe(recipe)
        self._preview = None
        self.learns.setText(tr(COUNTING))
        self.takes.setText("")
        self.expects.setText("")
        self.ok.setEnabled(False)
        self.ask_preview()

    def ask_preview(self) -> None:
        """Request the preview of the current choice."""
        self._timer.stop()
        self.preview_wanted.emit(self.recipe.id, self.values)

    def show_preview(self, recipe: str, preview: TrainingPreview | None, *, problem: str = "") -> None:
        """Show the answer to `preview_wanted`, or the `problem`. Answers for another recipe are dropped."""
        if recipe != self.recipe.id:
            return
        self._preview = preview
        if preview is not None:
            self._recommend(preview.context)
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
    def _device(self) -> str:
        return self._usual_device if self._simple else self.device.currentText()

    @property
    def _budget(self) -> float | None:
        return float(self.minutes.value()) if self.limited.isChecked() and not self._simple else None

    @property
    def wish(self) -> TrainingWish:
        return TrainingWish(
            self.recipe.id,
            self.values,
            0 if self._simple else self.seed.value(),
            self._device,
            self._budget,
            self.tensorboard.isChecked() and not self._simple,
        )

    def check(self) -> str:
        return self._preview.problem if self._preview is not None else tr("The decisions are still being counted.")


def offered(recipes: Sequence[Recipe]) -> dict[str, Recipe]:
    """The recipes that may be recommended by their ids, in order: the name encoder and the weights of the linker in
    use; the recipe for the context, which is shown only where the decisions ask for it; only the weights."""
    own = {role: members[0] for role, members in grouped(recipes) if role in OFFERED}
    context = [one for one in recipes if one.id == CONTEXT]
    found = [*(own[role] for role in OFFERED if role in own)]
    return {one.id: one for one in (*found[:1], *context, *found[1:])}


FIRST_RUN = "Once training runs, the remaining time is measured and shown within 20 seconds."
LAST_RUN = "The last training with this recipe here took {time}. The remaining time is shown while it runs."


def learns_words(preview: TrainingPreview) -> str:
    """The training data, the evaluation data, and the excluded documents."""
    if preview.in_turn:
        return tr(
            "{links:,} links and {nils:,} NIL decisions in {documents:,} training and validation "
            "documents; each document is evaluated with weights fitted on the others. The "
            "{test_documents:,} test documents are never used.",
            links=preview.links,
            nils=preview.nils,
            documents=preview.documents,
            test_documents=preview.test_documents,
        )
    lines = [
        tr(
            "{links:,} links and {nils:,} NIL decisions in {documents:,} training documents, "
            "{entities:,} different entities.",
            links=preview.links,
            nils=preview.nils,
            documents=preview.documents,
            entities=preview.entities,
        )
        if preview.nils
        else tr(
            "{links:,} links in {documents:,} training documents, {entities:,} different entities.",
            links=preview.links,
            documents=preview.documents,
            entities=preview.entities,
        )
    ]
    if preview.left_out:
        lines.append(
            ntr(
                "Training uses links only: {n} NIL decision is left out.",
                "Training uses links only: {n:,} NIL decisions are left out.",
                preview.left_out,
            )
        )
    if preview.passed_over:
        lines.append(
            ntr(
                "{n} candidate that was shown but not chosen, as a hard negative.",
                "{n:,} candidates that were shown but not chosen, as hard negatives.",
                preview.passed_over,
            )
        )
    if preview.outside:
        lines.append(
            ntr(
                "{n} linked entity is not in the knowledge base; its links are not used.",
                "{n:,} linked entities are not in the knowledge base; their links are not used.",
                preview.outside,
            )
        )
    return "\n".join([*lines, judges_words(preview)])


def judges_words(preview: TrainingPreview) -> str:
    """The evaluation data."""
    return (
        tr(
            "No validation document has decisions: a fifth of these documents is held out to evaluate "
            "the result. The {test_documents:,} test documents are never used.",
            test_documents=preview.test_documents,
        )
        if not preview.validation_decisions
        else tr(
            "Evaluated on {validation_decisions:,} decisions in {validation_documents:,} validation "
            "documents{judged_words}. The {test_documents:,} test documents are never used.",
            validation_decisions=preview.validation_decisions,
            validation_documents=preview.validation_documents,
            judged_words=judged_words(preview),
            test_documents=preview.test_documents,
        )
    )


def judged_words(preview: TrainingPreview) -> str:
    """A note if a quick recipe is evaluated on fewer mentions."""
    return (
        tr(", using {judged_at_most} of their links", judged_at_most=preview.judged_at_most)
        if preview.judged_at_most
        else ""
    )


def time_words(preview: TrainingPreview) -> str:
    """What the last run took."""
    if not preview.seconds:
        return tr(FIRST_RUN)
    return tr(LAST_RUN, time=range_words(preview.seconds, preview.seconds))
