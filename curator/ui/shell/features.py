"""What a window can do with its open project: each feature with its commands. Loaded with the first project, after the
first paint."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from curator.commands.command import Command
from curator.ui.bench.attribute_desk import AttributeDesk
from curator.ui.bench.bench_commands import ANNOTATE, CANDIDATES, DECIDING, QUEUE, TEXT
from curator.ui.bench.workbench import Workbench
from curator.ui.corpus.corpus_commands import CORPUS
from curator.ui.corpus.corpus_flows import CorpusFlows
from curator.ui.dashboard.seeing_commands import SEEING, STEPS
from curator.ui.dashboard.seeing_flows import SeeingFlows
from curator.ui.dashboard.step_flows import StepFlows
from curator.ui.entities.entity_commands import ENTITIES, USES
from curator.ui.entities.entity_flows import EntityFlows
from curator.ui.entities.use_flows import UseFlows
from curator.ui.files.file_commands import FILES, RECORDS
from curator.ui.files.project_flows import ProjectFlows
from curator.ui.files.record_flows import RecordFlows
from curator.ui.inconsistencies.inconsistency_commands import INCONSISTENCIES
from curator.ui.inconsistencies.inconsistency_flows import InconsistencyFlows
from curator.ui.opinions.opinion_commands import OPINIONS
from curator.ui.opinions.opinion_flows import OpinionFlows
from curator.ui.people.people_commands import PEOPLE
from curator.ui.people.people_flows import PeopleFlows
from curator.ui.safety.safety_commands import SAFETY
from curator.ui.safety.safety_flows import SafetyFlows
from curator.ui.training.model_commands import JOBS, MODEL
from curator.ui.training.model_flows import ModelFlows

if TYPE_CHECKING:
    from curator.ui.shell.windows import Session

T = TypeVar("T")


class Features:
    """Exists as long as the project is open."""

    def __init__(self, session: Session, bench: Workbench) -> None:
        self._session = session
        self._parts: list[Any] = []
        preferences, add = session.window.preferences, self._add
        add((*DECIDING, *CANDIDATES, *QUEUE, *TEXT, *JOBS), bench)
        add(ANNOTATE, AttributeDesk(bench))
        self.model = add(MODEL, ModelFlows(bench))
        self.flows = add(FILES, ProjectFlows(bench, index=self.model.build_index))
        self.people = add(
            PEOPLE,
            PeopleFlows(
                bench,
                rename=preferences.set_curator,
                named=lambda: bool(preferences.settings.curator_name.strip()),
                name_held=session.window.windows.name_held,
            ),
        )
        self.records = add(RECORDS, RecordFlows(bench))
        self.seeing = add(SEEING, SeeingFlows(bench, session.window, self.model.bundles))
        self.steps = add(STEPS, StepFlows(bench, name_of=self.model.bundles.name_of))
        self.entities = add(ENTITIES, EntityFlows(bench))
        self.uses = add(USES, UseFlows(bench, prefer=preferences.set_page_opening))
        self.corpus = add(CORPUS, CorpusFlows(bench))
        self.inconsistencies = add(INCONSISTENCIES, InconsistencyFlows(bench))
        self.opinions = add(OPINIONS, OpinionFlows(bench, save=preferences.keep))
        self.safety = add(SAFETY, SafetyFlows(bench, session))

    def _add(self, commands: Iterable[Command[T]], part: T) -> T:
        self._session.commands.register(commands, part)
        self._parts.append(part)
        return part

    def close_windows(self) -> None:
        """Close the windows of all features, since the project is being closed."""
        for part in self._parts:
            if close := getattr(part, "close_windows", None):
                close()
