"""All commands of the program. Importing it does not load the code that runs them."""

from __future__ import annotations

from curator.commands.command import in_menu_order
from curator.ui.bench.bench_commands import ANNOTATE, CANDIDATES, DECIDING, QUEUE, TEXT
from curator.ui.corpus.corpus_commands import CORPUS
from curator.ui.dashboard.seeing_commands import SEEING, STEPS
from curator.ui.entities.entity_commands import ENTITIES, USES
from curator.ui.files.file_commands import FILES, RECORDS
from curator.ui.inconsistencies.inconsistency_commands import INCONSISTENCIES
from curator.ui.opinions.opinion_commands import OPINIONS
from curator.ui.people.people_commands import PEOPLE
from curator.ui.safety.safety_commands import SAFETY
from curator.ui.shell.shell_commands import NAME, SHELL
from curator.ui.training.model_commands import JOBS, MODEL

COMMANDS = in_menu_order(
    (
        MODEL,
        FILES,
        RECORDS,
        SAFETY,
        JOBS,
        DECIDING,
        STEPS,
        CANDIDATES,
        QUEUE,
        TEXT,
        CORPUS,
        ANNOTATE,
        SHELL,
        ENTITIES,
        USES,
        INCONSISTENCIES,
        OPINIONS,
        NAME,
        PEOPLE,
        SEEING,
    )
)
"""In the order of the menus; within a menu group, features are in this order."""
