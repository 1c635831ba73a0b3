"""Random keys and clicks, 3 to 12 a second, through the X server: they reach the window like a person's."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

DECIDING = ["Return"] * 10 + ["1", "2", "3", "4", "9", "0", "n", "x", "s", "BackSpace", "Delete", "f", "KP_Enter"]
MOVING = ["Down", "Up", "j", "k", "Tab", "Tab", "Next", "Prior", "Home", "End", "Left", "Right", "F6"]
MANY = ["shift+Return", "shift+Return", "shift+n", "shift+x", "shift+s", "ctrl+b", "ctrl+Return", "ctrl+shift+Return"]
INSIDE = ["Escape", "Escape", "Escape", "r", "w", "a", "g", "d", "q", "p", "l", "c", "e", "space", "h", "v", "m", "o"]
TYPING = ["slash", "a", "s", "p", "i", "r", "BackSpace", "plus"]
WINDOWS = [
    "ctrl+k",
    "ctrl+comma",
    "question",
    "F1",
    "ctrl+l",
    "ctrl+e",
    "ctrl+r",
    "ctrl+f",
    "ctrl+d",
    "F2",
    "F4",
    "F7",
    "F9",
]
BACK = ["ctrl+z", "ctrl+z", "ctrl+shift+z", "ctrl+y", "alt+Right", "alt+Left", "alt+shift+Right"]
MENUS = ["alt+m", "alt+e", "alt+u", "alt+v", "alt+t"]
GROUPS = ((DECIDING, 46), (MOVING, 16), (MANY, 8), (INSIDE, 18), (TYPING, 3), (WINDOWS, 2), (BACK, 5), (MENUS, 1))


class Hands:
    """Presses and clicks on the display; the same seed gives the same sequence."""

    def __init__(self, display: str, *, seed: int, width: int = 1440, height: int = 900) -> None:
        self._random = random.Random(seed)
        self._size = width, height
        self._tool = subprocess.Popen(
            ["xdotool", "-"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env={"DISPLAY": display}, text=True
        )

    def act(self) -> str:
        """One key or click; returns it."""
        pick = self._random
        if pick.random() < 0.12:
            width, height = self._size
            # clicks go where the work is: the text, the candidates, the lists, the bottom; rarely the menus
            place = pick.choice(
                [(0.25, 0.1, 0.72, 0.9), (0.74, 0.1, 0.99, 0.6), (0.02, 0.1, 0.2, 0.9), (0.2, 0.9, 0.99, 0.99)]
            )
            x = int(width * pick.uniform(place[0], place[2]))
            y = int(height * pick.uniform(place[1], place[3]))
            return self._do(f"mousemove {x} {y} click {pick.choice('1114') if pick.random() < 0.9 else '5'}")
        keys = pick.choices([keys for keys, _ in GROUPS], [weight for _, weight in GROUPS])[0]
        return self._do(f"key {pick.choice(keys)}")

    def rest(self) -> None:
        """Between two presses of a person: a twelfth to a third of a second."""
        time.sleep(self._random.uniform(1 / 12, 1 / 3))

    def _do(self, words: str) -> str:
        assert self._tool.stdin is not None
        self._tool.stdin.write(words + "\n")
        self._tool.stdin.flush()
        return words

    def close(self) -> None:
        assert self._tool.stdin is not None
        self._tool.stdin.close()
        self._tool.wait(5)


@contextmanager
def screen(width: int = 1440, height: int = 900) -> Iterator[str]:
    """An X server of our own; its name for DISPLAY."""
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    name = f":{server.stdout.readline().strip()}"
    try:
        yield name
    finally:
        server.terminate()
        server.wait(10)
        server.stdout.close()
