"""Fixtures of every test: an offscreen platform, its own folders, and a check that nothing leaks."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in the program's child processes
os.environ.setdefault("OMP_NUM_THREADS", "1")  # a worker has one core: threads of small matrices only get in its way
os.environ["TZ"] = "UTC"  # the window shows local times
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

MEMORY, ROOM = Path("/dev/shm"), 4_000_000_000
"""Where files of tests are kept in memory, where there is that much room: each commit waits for a disk otherwise."""
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    os.environ.setdefault("TMPDIR", str(MEMORY))

gc.disable()  # while 6,700 tests are collected, of which nothing is garbage: a third of that time

# A suite started in the background inherits that Ctrl+C is ignored, and so would the programs that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_collection_finish() -> None:
    """Modules and tests live as long as the process: no later collection goes through them."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def nothing_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The system's temporary folder is one of this run, in which the program and its children leave nothing. Everybody
    may write there: some tests become another user, who cannot enter pytest's own folder."""
    tmp_path_factory.getbasetemp()  # pytest keeps it for whoever looks into a failure
    folder, before = Path(tempfile.mkdtemp(prefix="tests-of-curator-")), os.environ.get("TMPDIR")
    folder.chmod(0o1777)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    yield
    tempfile.tempdir = None
    del os.environ["TMPDIR"]
    if before is not None:
        os.environ["TMPDIR"] = before
    left = {one.name for one in folder.glob("curator-*")}
    shutil.rmtree(folder, ignore_errors=True)
    assert all(name.startswith("curator-template-") for name in left), f"the tests left {sorted(left)}"


_configurations = itertools.count(1)


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test reads or writes the user's settings, logs or embedding cache, or the settings of another test. Processes
    that share the suite share the cache, as programs do."""
    home = tmp_path_factory.getbasetemp()
    whole = home.parent if os.environ.get("PYTEST_XDIST_WORKER") else home
    settings = home / f"curator_config_dir-{next(_configurations)}"
    for name, folder in (
        ("CURATOR_CONFIG_DIR", settings),
        ("CURATOR_LOG_DIR", home / "curator_log_dir"),
        ("CURATOR_CACHE", whole / "curator_cache"),
    ):
        folder.mkdir(exist_ok=True)
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("CURATOR_BACKUP_DIR", "")  # none are made; tests of them set a folder
    yield
    shutil.rmtree(settings, ignore_errors=True)


@pytest.fixture(autouse=True)
def nothing_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which mentions are decided without suggestions depends on the project's random id; tests of it ask for some."""
    monkeypatch.setattr("curator.services.queue.holdout.held_out", lambda *_: False)


@pytest.fixture
def shared_data() -> Path:
    """Real corpora beside the checkout; they are not part of the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs the real corpora in {SHARED_DATA}, which are not there")
    return SHARED_DATA


@pytest.fixture(autouse=True)
def no_leaked_threads() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [t for t in threading.enumerate() if t not in before and not _belongs_to_a_library(t)]
    for thread in left:
        thread.join(timeout=5)
    alive = [t.name for t in left if t.is_alive()]
    assert not alive, f"the test left threads running: {alive}"


def _belongs_to_a_library(thread: threading.Thread) -> bool:
    """tqdm's monitor and the pytest-timeout kind live as long as the process."""
    return type(thread).__module__.partition(".")[0] in {"tqdm"}


@pytest.fixture(autouse=True)
def no_leaked_widgets(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every top-level widget that a test opened is gone when it ends (`qtbot.addWidget` closes it)."""
    if "qtbot" not in request.fixturenames:
        yield
        return
    from PySide6.QtWidgets import QApplication

    before = {id(w) for w in QApplication.topLevelWidgets()}
    gc.disable()  # as in the window's process: widgets end in its own thread
    gc.freeze()  # what was there before is not gone through after each test: that takes longer than most of them
    yield
    gc.enable()
    from PySide6.QtCore import QCoreApplication, QEvent

    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    left = [w for w in QApplication.topLevelWidgets() if id(w) not in before and w.isVisible()]
    assert not left, f"the test left widgets open: {left}"


@pytest.fixture(autouse=True)
def no_held_modifiers(request: pytest.FixtureRequest) -> Iterator[None]:
    """QTest leaves Ctrl held down after a key with Ctrl: the next row that a test selects would join the others."""
    yield
    if not {"qtbot", "qapp"} & {*request.fixturenames}:
        return
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QWidget

    QTest.keyRelease(QWidget(), Qt.Key.Key_F35)
