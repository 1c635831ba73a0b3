"""The commands, each imported when it is called, and the exit codes: 0 done, 1 bug, 2 user error, 3 damage found, 130
cancelled."""

from __future__ import annotations

import errno
import importlib
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from curator.domain.wording import CancelledError, UserError
from curator.services.records.diagnostics import log_folder, start_logging, stop_logging

log = logging.getLogger(__name__)
ENVIRONMENT = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT, errno.EISDIR}

COMMANDS = {
    "new": ("curator.cli.projects", "new", "Create a new, empty project."),
    "move": ("curator.cli.projects", "move", "Move a project from a folder to a database, or back."),
    "open": ("curator.cli.projects", "open_window", "Open a project in the window."),
    "demo": ("curator.cli.projects", "demo", "Create the demo project and open it."),
    "info": ("curator.cli.projects", "info", "Show what a project contains."),
    "check": ("curator.cli.projects", "check", "Check whether a project is damaged."),
    "restore": ("curator.cli.projects", "restore", "List the backups of a project, or restore one."),
    "salvage": ("curator.cli.projects", "salvage", "Save the decisions of a damaged project to a file."),
    "kb": ("curator.cli.data", "kb", "Import, search and export the knowledge base."),
    "import": ("curator.cli.importing", "import_documents", "Import documents, with or without gold."),
    "fetch": ("curator.cli.importing", "fetch", "Fetch records from PubMed."),
    "export": ("curator.cli.data", "export", "Export documents with their decisions."),
    "formats": ("curator.cli.projects", "formats", "List the formats that can be read and written."),
    "index": ("curator.cli.linking", "index", "Build the index of the knowledge base."),
    "detect": ("curator.cli.linking", "detect", "Find mentions in documents that have none."),
    "link": ("curator.cli.linking", "link", "Link documents; save the suggestions or write them to a file."),
    "opinion": ("curator.cli.linking", "opinion", "Ask a language model about doubtful mentions."),
    "serve": ("curator.cli.linking", "serve", "Match words that other programs send, such as OpenRefine."),
    "evaluate": ("curator.cli.evaluating", "evaluate", "Evaluate the linker on the gold of a split."),
    "train": ("curator.cli.training", "train", "Retrain the linker from your decisions."),
    "linkers": ("curator.cli.training", "linkers", "List linkers, put one into use, or roll back."),
    "stats": ("curator.cli.evaluating", "stats", "Show the figures of the dashboard."),
    "work": ("curator.cli.deciding", "work", "List the mentions to decide next."),
    "decide": ("curator.cli.deciding", "decide", "Decide mentions, also from a file."),
    "people": ("curator.cli.people", "people", "Manage who may do what in a shared project."),
    "rounds": ("curator.cli.people", "rounds", "Let several curators decide the same documents independently."),
    "agreement": ("curator.cli.people", "agreement", "Measure the agreement of the curators in a round."),
    "audit": ("curator.cli.data", "audit", "Export the audit trail."),
    "release": ("curator.cli.data", "release", "Export a release of the decisions."),
    "undo": ("curator.cli.deciding", "undo", "Undo the last step."),
    "redo": ("curator.cli.deciding", "redo", "Redo the last undone step."),
    "desktop": ("curator.cli.projects", "desktop", "Add Curator to the desktop's menus, or remove it."),
    "replay": ("curator.cli.deciding", "replay", "Replay imported gold as decisions of a curator."),
}
"""Name -> (module, function, one line of help)."""


class LazyGroup(click.Group):
    """A group that imports a command only when it is called; `curator --help` imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Opens a project given in place of a command: a double click on `project.curator` runs `curator PATH`."""
        if args and args[0] not in COMMANDS and _is_project(args[0]):
            args = ["open", *args]
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        from curator.cli.console import checked_texts

        module, name, _ = COMMANDS[cmd_name]
        return checked_texts(getattr(importlib.import_module(module), name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])


def _is_project(argument: str) -> bool:
    path = Path(argument)
    if argument.lower().startswith(("postgresql://", "postgres://")):
        return True
    return (path.name == "project.curator" or path.name.endswith(".curation")) and path.exists()


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.option(
    "--version",
    is_flag=True,
    callback=lambda ctx, _, asked: _show_version(ctx) if asked else None,
    expose_value=False,
    is_eager=True,
    help="Show the versions of Curator and SQLite, and exit.",
)
@click.pass_context
def cli(ctx: click.Context) -> int | None:
    """Curate entity links in documents, with a linker that learns from your decisions.

    Without a command, the window opens. In every command, P is the project folder, NAME.curation, or the address of a
    shared project, postgresql://user@host/base.
    """
    if ctx.invoked_subcommand is not None:
        if ctx.invoked_subcommand not in ("open", "demo"):  # the window does both after its first painting
            importlib.import_module("curator.temporary").remove_abandoned()
            _warn_of_settings()
        return None
    module, name, _ = COMMANDS["open"]
    opened: int = ctx.invoke(getattr(importlib.import_module(module), name), projects=())
    return opened


def _warn_of_settings() -> None:
    """Print what is wrong with the settings file: its values decide the curator's name and where backups are."""
    from curator.cli.console import echo
    from curator.settings.file import load

    for words in load().problems:
        echo(f"Warning: {words}", err=True)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; an error is one line on standard error."""
    if sys.stdin is None:  # closed, as by `<&-`: a question gets no answer, and no file gets its number
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 open until the process ends
    handler = start_logging()
    if handler is None and logging.lastResort is not None:  # without a log file, warnings are printed
        from curator.cli.console import PlainFormatter

        logging.lastResort.setFormatter(PlainFormatter())
    try:
        return _run(arguments)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        from curator.cli.console import show_error

        show_error(error)
        return 2
    except UserError as error:
        return _fail(str(error), 2)
    except (KeyboardInterrupt, click.Abort, CancelledError):
        return _fail("Cancelled.", 130)
    except OSError as error:
        if advice := _advice(error):
            log.warning("The environment refused", exc_info=True)
            return _fail(f"{error.filename or 'The output'}: {error.strerror}. {advice}.", 2)
        return _bug()
    except Exception:  # top-level boundary: the traceback goes to the log
        return _bug()
    finally:
        stop_logging(handler)


def _advice(error: OSError) -> str:
    """What to do about an error that is not Curator's; else ''."""
    from curator.cli.console import UNUSABLE

    if error.errno == errno.EIO:
        return "Check the disk"
    if error.errno in ENVIRONMENT:
        return "Check the folder's permissions and the free disk space"
    return UNUSABLE.get(error.errno or 0, "")


def _show_version(ctx: click.Context) -> None:
    from curator import __version__
    from curator.cli.console import echo
    from curator.services.records.diagnostics import sqlite_words

    echo(f"curator {__version__}\n{sqlite_words()}")
    ctx.exit()


def _run(arguments: Sequence[str] | None) -> int:
    result = cli.main(args=None if arguments is None else list(arguments), prog_name="curator", standalone_mode=False)
    return result if isinstance(result, int) else 0


def _bug() -> int:
    log.exception("A command failed")
    error = sys.exception()
    return _fail(f"This is a bug in curator ({type(error).__name__}); the traceback is in {log_folder()}.", 1)


def _fail(sentence: str, code: int) -> int:
    from curator.cli.console import echo

    echo(sentence if code == 130 else f"Error: {sentence}", err=True)
    return code
