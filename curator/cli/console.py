"""Shared by all commands: the open project, progress on standard error, results on standard output, and Ctrl+C during
long work."""

from __future__ import annotations

import errno
import inspect
import io
import json
import logging
import os
import re
import signal
import stat
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import UNPAIRED, CancelledError, UserError, well_formed

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.domain.decisions import Change
    from curator.services.ports.address import ProjectPlace
    from curator.services.ports.processes import Cluster, JobHandle


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, marks that change the direction of text, and bytes of file names that are not UTF-8."""

# Ctrl+C takes effect between two steps, so that it leaves no transaction open and no lock held.

STOPPING = b"\nStopping after this step. Press Ctrl+C again to stop at once.\n"


@contextmanager
def interrupts_held() -> Iterator[Callable[[], None]]:
    """Delay Ctrl+C inside the block: the yielded function raises KeyboardInterrupt if Ctrl+C was pressed.

    A second Ctrl+C raises at once. It has no effect if Ctrl+C raises nothing: if it is ignored, as under `nohup`, or
    outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread() or (
        signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield _nothing
        return
    pressed = False

    def hold(_number: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        os.write(2, STOPPING)  # sys.stderr may be in the middle of a write

    def look() -> None:
        if pressed:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, hold)
    try:
        yield look
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _nothing() -> None:
    return


T = TypeVar("T")
Report = Callable[[Progress], None]
LOOK = 0.2
"""Seconds between two checks of a job; Ctrl+C takes effect at the next one."""

DAMAGE = 3
"""The exit code of a check that found damage, and of an export that left it out."""

OPEN, SAID = "curator.open_projects", "curator.printed_warnings"
"""The keys in click's context under which `_open` and `_warn` keep what they know."""


UNUSABLE = {errno.ENAMETOOLONG: "Choose a shorter path", errno.ELOOP: "Check the symbolic links in the path"}
"""What to do about paths that nothing can be at."""


class FilePath(click.Path):
    """As click's, but without devices, pipes and sockets: reading one may never end, and writing would replace it. Nor
    is it a project's own file, such as its database."""

    is_project = False

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            raise UserError("The path is empty. Give the path of a file or a folder.")
        found = super().convert(value, param, ctx)
        path = Path(os.fsdecode(found))
        mode = _mode(path)
        try:
            place = path.resolve()
            if not self.is_project and place.name.startswith("project.") and place.parent.suffix == ".curation":
                raise UserError(f"{path} is a file of a Curator project. Choose another file.")
        except (OSError, RuntimeError, ValueError):
            return found  # opening it will report the error
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) and str(found) != "-":
            raise UserError(f"{path} is a device, a pipe or a socket. Choose a file.")
        return found


def _mode(path: Path) -> int:
    """The mode of the file; that of a regular file if there is none. Raises UserError if there can be none."""
    try:
        return path.stat().st_mode
    except OSError as error:
        if error.errno in UNUSABLE:
            raise UserError(f"{path}: {error.strerror}. {UNUSABLE[error.errno]}.") from error
    except ValueError:
        pass
    return stat.S_IFREG  # opening it will report the error


class ProjectPath(FilePath):
    """The folder of a project or its `project.curator`, or the address of a shared one."""

    is_project = True

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and "://" in value:
            from curator.services.ports.address import SharedAddress, is_address

            if is_address(value):
                return SharedAddress.parse(Text().convert(value, param, ctx))
        return super().convert(value, param, ctx)


class Text(click.types.StringParamType):
    """As click's, but without bytes that are not UTF-8, which only file names can have: no project can store them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and UNPAIRED.search(value):
            raise UserError(f"The argument {value} is not UTF-8 text. Check the encoding of your terminal.")
        return super().convert(value, param, ctx)


def checked_texts(command: click.Command) -> click.Command:
    """The command, with `Text` for each of its texts and those of its subcommands."""
    for one in command.params:
        if isinstance(one.type, click.types.StringParamType):
            one.type = Text()
    for each in command.commands.values() if isinstance(command, click.Group) else ():
        checked_texts(each)
    return command


PROJECT = click.argument("project", type=ProjectPath(path_type=Path), metavar="P")
FILE = FilePath(path_type=Path)
SPLIT = click.Choice(["train", "validation", "test"])


@dataclass(frozen=True, slots=True)
class Result:
    """What a command found or did, as JSON and as lines for people; `nothing` is said if there are no lines. With
    `failure`, the command ends with this error after its result is printed."""

    facts: Mapping[str, Any]
    lines: str | Iterable[str]
    nothing: str = ""
    code: int = 0
    failure: str = ""


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines whose cells stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def command(name: str, group: click.Group | None = None) -> Callable[[Callable[..., Result]], click.Command]:
    """Make a command of a function with click's options: it prints the returned result as text or, with --json, as
    JSON."""

    def made(function: Callable[..., Result]) -> click.Command:
        def called(*, as_json: bool, **given: Any) -> int:
            return show(function(**given), as_json=as_json)

        return _click_command(name, function, called, group)

    return made


def project_command(
    name: str,
    group: click.Group | None = None,
    *,
    read_only: bool | Callable[[Mapping[str, Any]], bool] = False,
    curator: bool = False,
) -> Callable[[Callable[..., Result]], click.Command]:
    """As `command`, for a function that gets the open project P first. `read_only` may depend on the given options;
    with `curator`, --curator names who decides."""

    def made(function: Callable[..., Result]) -> click.Command:
        def called(project: ProjectPlace, *, as_json: bool, curator: str = "", **given: Any) -> int:
            only = read_only(given) if callable(read_only) else read_only
            with opened(project, read_only=only, curator=curator) as found:
                return show(function(found, **given), as_json=as_json)

        return _click_command(name, PROJECT(function), called, group, curator=curator)

    return made


def _click_command(
    name: str,
    function: Callable[..., Result],
    called: Callable[..., int],
    group: click.Group | None,
    *,
    curator: bool = False,
) -> click.Command:
    params: list[click.Parameter] = [*reversed(getattr(function, "__click_params__", []))]
    if curator:
        words = "Name of the curator. Default: the name in the settings."
        params.append(click.Option(["--curator"], default="", metavar="NAME", help=words))
    params.append(click.Option(["--json", "as_json"], is_flag=True, help="Print the result as JSON."))
    made = click.Command(name, callback=called, params=params, help=inspect.getdoc(function))
    if group is not None:
        group.add_command(made)
    return made


@contextmanager
def opened(place: ProjectPlace, *, read_only: bool = False, curator: str = "") -> Iterator[Project]:
    """Open the project for one command; its linker process starts only when something is linked."""
    from curator.bootstrap import open_project

    project = open_project(place, read_only=read_only, linker=False, curator=curator)
    _open().append(project)
    try:
        for words in (project.place_warning(), project.backups.clock_warning(), project.backups.place_warning()):
            _warn(words)
        yield project
    except Exception as error:
        if (damage := project.disk.damage(error)) is None:
            raise
        raise damage from error
    finally:
        _open().remove(project)
        project.close()
        for words in project.backups.troubles:
            _warn(f"Warning: {words}")


def _warn(words: str) -> None:
    """Print a warning once per command, which may open the project several times."""
    said: set[str] = click.get_current_context().meta.setdefault(SAID, {""})
    if words not in said:
        said.add(words)
        echo(words, err=True)


def _open() -> list[Project]:
    """The projects that the current command has open."""
    found: list[Project] = click.get_current_context().meta.setdefault(OPEN, [])
    return found


def show(result: Result, *, as_json: bool) -> int:
    """Print the result of a command after everything it did is on disk; returns its exit code.

    Raises UserError, and prints nothing, if the disk fails; also if the result cannot be printed.
    """
    for project in _open():
        project.disk.settle()
    lines = result.lines if isinstance(result.lines, str) else "\n".join(result.lines)
    facts = json.dumps(result.facts, ensure_ascii=False, default=str) if as_json else ""
    try:
        echo(_CONTROL.sub(_escaped, facts) if as_json else lines or result.nothing)
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader has seen enough, as in `| head`
            raise
        raise UserError(f"The command is done, but its output could not be written ({error.strerror}).") from error
    if result.failure:
        raise UserError(result.failure)
    return result.code


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text without control characters other than line ends and tabs: texts from documents, knowledge bases and
    file names must not control the terminal. Each control character is shown as U+FFFD."""
    click.echo(plain(text), err=err, nl=nl)


def plain(text: str) -> str:
    """Text as `echo` prints it."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", well_formed(text))


def show_error(error: click.ClickException) -> None:
    """Print click's message about a wrong command line, which repeats the user's input."""
    words = io.StringIO()
    error.show(file=words)
    echo(words.getvalue(), err=True, nl=False)


class PlainFormatter(logging.Formatter):
    """Formatter for log messages that are printed because the log file cannot be written."""

    def format(self, record: logging.LogRecord) -> str:
        return plain(super().format(record))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def counted(n: int, one: str, many: str) -> str:
    """A number with its noun: 1 document, 2,000 documents."""
    return f"{n:,} {one if n == 1 else many}"


def changed(change: Change | None, *, nothing: str = "") -> Result:
    """What was done as one step, or `nothing` if nothing was done."""
    if change is None:
        return Result({"change": None}, nothing)
    facts = {
        "change": change.kind.value,
        "text": change.text,
        "actor": change.actor,
        "operation": change.operation_id,
        "documents": change.document_ids,
        "mentions": change.mention_ids,
    }
    return Result(facts, f"{change.text}.")


def document_named(project: Project, external_id: str) -> int:
    """The id of the document with this id in its file. Raises UserError if none or several have it."""
    from curator.services.ports.queue import QueueFilter

    where = QueueFilter(text=external_id)
    rows = project.queue.rows(where, limit=project.queue.count(where))
    ids = [row.document_id for row in rows if row.external_id == external_id]
    if not ids:
        raise UserError(f"Document {external_id} was not found in this project. `curator work P` shows document IDs.")
    if len(ids) > 1:
        raise UserError(f"{len(ids):,} documents have the ID {external_id}. Give the number of a mention instead.")
    return ids[0]


@contextmanager
def progress_bar() -> Iterator[Report]:
    """Yields a function that shows progress on standard error; silent if that is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[text]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    tasks: dict[str, TaskID] = {}
    console = Console(stderr=True)
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:

        def show(progress: Progress) -> None:
            if progress.phase not in tasks:
                tasks[progress.phase] = bars.add_task(progress.phase, total=None, text="")
            text = plain(progress.text or _figures(progress.data))
            total = progress.total or None
            bars.update(tasks[progress.phase], completed=progress.done, total=total, text=text)

        yield show


def run_steps(steps: Generator[Progress, None, T]) -> T:
    """Run a generator of progress to its end and return its result; Ctrl+C closes it after the current step."""
    with progress_bar() as show, interrupts_held() as look, closing(steps):
        while True:
            look()
            try:
                show(next(steps))
            except StopIteration as end:
                result: T = end.value
                return result


def run_job(start: Callable[[Report, Callable[[JobOutcome], None]], JobHandle]) -> JobOutcome:
    """Start a job and wait for it. Raises UserError if it failed, CancelledError if it was cancelled."""
    with progress_bar() as show, interrupts_held() as look:
        handle = start(show, _ignore)
        try:
            while (outcome := handle.wait(LOOK)) is None:
                look()
        except KeyboardInterrupt:
            handle.cancel()
            handle.wait()
            raise
    return checked(outcome)


def checked(outcome: JobOutcome) -> JobOutcome:
    if outcome.state is JobState.CANCELLED:
        raise CancelledError
    if outcome.state is JobState.FAILED or "signal" in outcome.result:  # killed from outside: not a bug
        raise UserError(outcome.message)
    if outcome.state is JobState.CRASHED:
        raise RuntimeError(f"{outcome.message}\n{outcome.detail}")
    return outcome


def ensure_index(
    project: Project, *, lexical_only: bool = False, again: bool = False, cluster: Cluster | None = None
) -> None:
    """Build the indexes that the knowledge base lacks, and refit the weights if the number of links has doubled. With a
    curator's login of a shared project, the linker in use is taken as it is.

    Raises UserError if the project has no knowledge base, and if a curator's login finds no linker.
    """
    if project.knowledge.info() is None:
        raise UserError("The project has no knowledge base. Import one first: `curator kb import P FILE`.")
    from curator.services.ports.storage import Role

    if project.role is Role.CURATOR and any(one.active for one in project.retraining.bundles()):
        return
    if again or project.retraining.needs_index(lexical_only=lexical_only):
        run_job(
            lambda show, end: project.retraining.build_index(
                lexical_only=lexical_only, again=again, cluster=cluster, on_progress=show, on_end=end
            )
        )
    elif not lexical_only and project.retraining.needs_calibration():
        run_job(lambda show, end: project.retraining.calibrate(on_progress=show, on_end=end))


def _figures(data: Mapping[str, Any]) -> str:
    return f"loss {data['loss']:.4f}" if isinstance(data.get("loss"), float) else ""


def _ignore(outcome: JobOutcome) -> None:
    """Does nothing: the caller's thread gets the outcome from the handle's `wait`."""
