"""All commands of the program. Nothing that carries them out is loaded with it."""

from __future__ import annotations

from curator.commands import in_menu_order
from curator.ui.bench.candidate_commands import CANDIDATES
from curator.ui.bench.deciding_commands import DECIDING
from curator.ui.bench.queue_commands import QUEUE
from curator.ui.bench.text_commands import TEXT
from curator.ui.dashboard.seeing_commands import SEEING
from curator.ui.entities.entity_commands import ENTITIES
from curator.ui.files.file_commands import FILES, RECORDS
from curator.ui.people.people_commands import PEOPLE
from curator.ui.shell.shell_commands import NAME, SHELL
from curator.ui.training.model_commands import JOBS, MODEL

COMMANDS = in_menu_order(
    (MODEL, FILES, RECORDS, JOBS, DECIDING, CANDIDATES, QUEUE, TEXT, SHELL, ENTITIES, NAME, PEOPLE, SEEING)
)
"""In the order of the menus; within a group of a menu the features follow each other as here."""
