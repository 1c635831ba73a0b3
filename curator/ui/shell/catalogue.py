"""All commands of the program. Importing it does not load the code that runs them."""

from __future__ import annotations

from curator.commands import in_menu_order
from curator.ui.bench import ANNOTATE, CANDIDATES, DECIDING, QUEUE, TEXT
from curator.ui.corpus import CORPUS
from curator.ui.dashboard import SEEING, STEPS
from curator.ui.entities import ENTITIES, USES
from curator.ui.files import FILES, RECORDS
from curator.ui.inconsistencies import INCONSISTENCIES
from curator.ui.opinions import OPINIONS
from curator.ui.people import PEOPLE
from curator.ui.safety import SAFETY
from curator.ui.shell.shell_commands import NAME, SHELL
from curator.ui.training import JOBS, MODEL

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
