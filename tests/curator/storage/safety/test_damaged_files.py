"""Whatever happens to the files of a project: it opens with its decisions, or a sentence says what is wrong. The check
finds what opening leaves to it."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.storage import open_project
from curator.storage.safety import check_steps
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


def variants(number: int, *, seed: int) -> Iterator[tuple[str, str, random.Random]]:
    rng = random.Random(seed)
    kinds = ("flipped", "flipped", "cut", "swapped", "zeroed", "deleted")
    for n in range(number):
        file = "project.sqlite" if n % 2 else "project.sqlite-wal"
        yield file, kinds[n // 2 % len(kinds)], rng


def silent(closed: Path, killed: Path, place: Path, number: int, *, seed: int) -> list[str]:
    """The variants that opened with other content, or in which the check found nothing."""
    wanted = {one: content(Path(shutil.copytree(one, place / f"whole-{one.name}"))) for one in (closed, killed)}
    wrong = []
    for n, (file, kind, rng) in enumerate(variants(number, seed=seed)):
        source = killed if file.endswith("wal") else closed
        folder = Path(shutil.copytree(source, place / f"{n}.curation"))
        whole = (folder / file).read_bytes()
        bad = damaged(whole, kind, rng)
        (folder / file).unlink() if bad is None else (folder / file).write_bytes(bad)
        if bad != whole:
            if source is closed and not findings(folder):
                wrong.append(f"{n}: the check finds nothing in {file}, {kind}")
            try:
                if content(folder) != wanted[source]:
                    wrong.append(f"{n}: {file}, {kind}, is opened with other content")
            except UserError:
                pass  # a sentence
        shutil.rmtree(folder, ignore_errors=True)
    return wrong


def test_no_damaged_file_is_opened_silently_with_other_content(closed: Path, killed: Path, tmp_path: Path) -> None:
    assert silent(closed, killed, tmp_path, 40, seed=1) == []


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 4))
def test_no_damaged_file_is_opened_silently_in_many_tries(
    closed: Path, killed: Path, tmp_path: Path, seed: int
) -> None:
    assert silent(closed, killed, tmp_path, 320, seed=seed) == []
