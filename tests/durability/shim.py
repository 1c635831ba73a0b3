"""The shim before the C library: compiled at the start, armed in a forked child, and its record read back."""

from __future__ import annotations

import ctypes
import os
import shutil
import struct
import subprocess
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
VARIABLE = "CURATOR_DURABILITY_SHIM"
"""Names the compiled shim to the processes that were started with it."""


class Kind(IntFlag):
    """What a call does; the same bits as in `shim.c`."""

    CREATE = 1
    CUT = 2
    REOPEN = 4
    WRITE = 8
    RESIZE = 16
    RENAME = 32
    LINK = 64
    UNLINK = 128
    MKDIR = 256
    RMDIR = 512
    SYNC = 1024
    STREAM = 2048
    MARK = 4096
    SYMLINK = 8192
    READ = 65536


CHANGES = ~(Kind.MARK | Kind.REOPEN) & 0xFFFF
"""The calls before which a process is stopped: opening a file that exists changes nothing."""
GROWING = Kind.CREATE | Kind.WRITE | Kind.RENAME | Kind.LINK | Kind.MKDIR | Kind.STREAM | Kind.RESIZE | Kind.SYMLINK


class Act(IntEnum):
    RECORD = 0
    KILL = 1
    TORN = 2
    FAIL = 3
    SHORT = 4
    SLOW = 5
    SLOW_ALL = 6


@dataclass(frozen=True, slots=True)
class Call:
    """One call that succeeded. `offset` is in bytes: of a write, the new size of a resized file, or the size of the
    file after its stream was flushed; of a read, how many bytes it asked for, and -1 where a file was opened for
    reading. `other` is the new name of what was renamed or linked."""

    kind: Kind
    number: int
    path: str
    other: str = ""
    offset: int = 0
    data: bytes = b""


class NoCompiler(Exception):
    """There is no C compiler, or it refuses the shim; the message is a sentence."""


def compile_shim(folder: Path) -> Path:
    """Raises NoCompiler."""
    compiler = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
    if os.uname().sysname != "Linux" or compiler is None:
        raise NoCompiler("The durability harness needs Linux and a C compiler (cc), which was not found.")
    target = folder / "shim.so"
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(target), str(SOURCE), "-ldl", "-lpthread"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoCompiler(f"The compiler refused {SOURCE}: {done.stderr.strip().splitlines()[0]}")
    return target


class Shim:
    """The shim of this process, which must have been started with it."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(os.environ[VARIABLE])
        self._library.durable_arm.argtypes = [
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.c_long,
            ctypes.c_int,
            ctypes.c_long,
            ctypes.c_int,
            ctypes.c_int,
        ]
        self._library.durable_mark.argtypes = [ctypes.c_char_p]

    def arm(
        self,
        root: Path,
        *,
        log: int = -1,
        at: int = 0,
        act: Act = Act.RECORD,
        argument: int = 0,
        forever: bool = False,
        kinds: int = 0xFFFF,
    ) -> None:
        """Act at call number `at`, counted from 1, if it is one of `kinds`; with `forever`, at all later ones too.

        `argument`: bytes that are written or read (TORN, SHORT), an errno (FAIL) or milliseconds (SLOW, SLOW_ALL).
        Reads have numbers of their own, and are seen only where `kinds` has them.
        """
        self._library.durable_arm(os.fsencode(root), log, at, int(act), argument, int(forever), int(kinds))

    def disarm(self) -> int:
        """Returns how often it acted."""
        self._library.durable_disarm()
        return int(self._library.durable_hits())

    def mark(self, text: str) -> None:
        """Note in the record that the program promised something."""
        self._library.durable_mark(text.encode())


_HEAD = struct.Struct("=IIIIqq")


def read_record(path: Path) -> list[Call]:
    raw = path.read_bytes()
    calls, at = [], 0
    while at + _HEAD.size <= len(raw):
        kind, first, second, length, number, offset = _HEAD.unpack_from(raw, at)
        at += _HEAD.size
        texts = raw[at : at + first], raw[at + first : at + first + second]
        at += first + second
        calls.append(Call(Kind(kind), number, *map(os.fsdecode, texts), offset, raw[at : at + length]))
        at += length
    return calls
