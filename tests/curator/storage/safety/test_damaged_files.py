"""Whatever happens to the files of a project: it opens with its decisions, or a sentence says what is wrong. The check
finds what opening leaves to it, also after the project was closed properly."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from curator.domain.wording import DamagedTextError, UserError
from curator.storage.project import open_project
from curator.storage.safety.backups import Backups
from curator.storage.safety.checking import check_steps
from curator.storage.store import SqlUnitOfWork
from tests.curator.storage.safety.conftest import decide_in, make

PAGE = 4096


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Closed properly."""
    return make(tmp_path_factory.mktemp("closed") / "closed")


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As a killed program leaves it, with its last decisions in the log only."""
    folder = make(tmp_path_factory.mktemp("killed") / "made")
    copy = folder.with_name("killed.curation")
    with open_project(folder) as store:
        decide_in(store, range(45, 55))
        store.settle()
        shutil.copytree(folder, copy)
    return copy


def content(folder: Path) -> list[tuple[object, ...]]:
    """All rows of all tables but what opening itself writes. Raises UserError."""
    with open_project(folder) as store, store.read() as unit:
        tables = unit.connection.exec_driver_sql(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
        )
        names = [name for (name,) in tables.all()]
        return [tuple(row) for name in names for row in unit.connection.exec_driver_sql(f"SELECT * FROM {name}").all()]


def findings(folder: Path) -> int:
    steps = check_steps(folder)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return len(end.value.findings)
        except UserError:
            return 1


def damaged(whole: bytes, kind: str, rng: random.Random) -> bytes | None:
    """One variant of a file; None: it is deleted."""
    found = bytearray(whole)
    at = rng.randrange(len(found))
    if kind == "flipped":
        found[at] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del found[at:]
    elif kind == "swapped":
        one, other = (rng.randrange(len(found) // PAGE) * PAGE for _ in range(2))
        found[one : one + PAGE], found[other : other + PAGE] = found[other : other + PAGE], found[one : one + PAGE]
    elif kind == "zeroed":
        found[at : at + 512] = bytes(len(found[at : at + 512]))
    else:
        return None
    return bytes(found)


def variants(number: int, *, seed: int) -> Iterator[tuple[str, str, str, random.Random]]:
    """Which project, which of its files, and how it is damaged."""
    rng = random.Random(seed)
    kinds = ("flipped", "flipped", "cut", "swapped", "zeroed", "deleted")
    places = (("killed", "project.sqlite-wal"), ("closed", "project.sqlite"), ("killed", "project.sqlite"))
    for n in range(number):
        yield *places[n % len(places)], kinds[n // len(places) % len(kinds)], rng


def silent(closed: Path, killed: Path, place: Path, number: int, *, seed: int) -> list[str]:
    """The variants that opened with other content, or in which the check found nothing."""
    wanted = {one: content(Path(shutil.copytree(one, place / f"whole-{one.name}"))) for one in (closed, killed)}
    wrong = []
    for n, (state, file, kind, rng) in enumerate(variants(number, seed=seed)):
        source = killed if state == "killed" else closed
        folder = Path(shutil.copytree(source, place / f"{n}.curation"))
        whole = (folder / file).read_bytes()
        bad = damaged(whole, kind, rng)
        (folder / file).unlink() if bad is None else (folder / file).write_bytes(bad)
        if bad != whole:
            if source is closed and not findings(folder):
                wrong.append(f"{n}: the check finds nothing in {file}, {kind}")
            try:
                left_to_check = source is killed and file == "project.sqlite"  # no hash of it is known
                if content(folder) != wanted[source] and not (left_to_check and findings(folder)):
                    wrong.append(f"{n}: {file}, {kind}, {state}, is opened with other content")
            except UserError:
                pass  # a sentence
        shutil.rmtree(folder, ignore_errors=True)
    return wrong


def test_no_damaged_file_is_opened_silently_with_other_content(closed: Path, killed: Path, tmp_path: Path) -> None:
    assert silent(closed, killed, tmp_path, 60, seed=1) == []


def nothing() -> None:
    return


@pytest.mark.parametrize(
    ("before", "after"), [(b"abstract", b"abstraxt"), (b"text of", b"texts o"), (b"A title. ", b"A\xff title.")]
)
def test_a_text_changed_beside_the_log_of_a_killed_program_is_named_and_the_next_closing_hides_nothing(
    killed: Path, tmp_path: Path, before: bytes, after: bytes
) -> None:
    folder = Path(shutil.copytree(killed, tmp_path / "p.curation"))
    database = folder / "project.sqlite"
    content = database.read_bytes()
    at = content.index(b"The text of the abstract")
    at = content.index(before, at - len(b"A title. "))
    database.write_bytes(content[:at] + after + content[at + len(before) :])
    for _ in range(2):  # the second time it was closed properly, which has sealed the hash of the damaged file
        with open_project(folder) as store:
            with store.read() as unit:
                named = [number for number in (1, 2, 3) if is_damaged(unit, number)]
                assert len(named) == 1
                with pytest.raises(DamagedTextError, match=f"document {named[0] - 1} differs from the one imported"):
                    unit.documents.get(named[0], compared=True)
            decide_in(store, [44])
            due = Backups(folder, root=lambda: tmp_path / "b", most=lambda: 1, unclean=store.unclean)
            assert due.check(nothing).findings
            assert due.check_due(datetime.now(UTC)), "it was checked, but it is not sound"
        assert findings(folder)


def is_damaged(unit: SqlUnitOfWork, number: int) -> bool:
    try:
        unit.documents.get(number, compared=True)
    except DamagedTextError:
        return True
    return False


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 4))
def test_no_damaged_file_is_opened_silently_in_many_tries(
    closed: Path, killed: Path, tmp_path: Path, seed: int
) -> None:
    assert silent(closed, killed, tmp_path, 480, seed=seed) == []
