"""What differs between the systems for which a bundle can be made. Only Linux was tried."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """`python`: the interpreter's path in the bundle. `packages`: where its packages are. `launcher`: what starts it.

    `tried` is False where nobody has run such a bundle yet.
    """

    name: str
    python: str
    packages: str
    launcher: str
    archive: str
    tried: bool


def target(platform: str = sys.platform, version: tuple[int, int] = sys.version_info[:2]) -> Target:
    """The target for a `sys.platform`. Raises ValueError for one that Curator has no bundle for."""
    major, minor = version
    dotted = f"{major}.{minor}"
    if platform.startswith("linux"):
        return Target(
            "linux-x86_64",
            f"python/bin/python{dotted}",
            f"python/lib/python{dotted}/site-packages",
            "curator",
            "tar.xz",
            tried=True,
        )
    if platform == "darwin":  # the layout of a framework's `Versions/X.Y`, which can be moved after `install_name_tool`
        return Target(
            "macos-arm64",
            f"Curator.app/Contents/Resources/python/bin/python{dotted}",
            f"Curator.app/Contents/Resources/python/lib/python{dotted}/site-packages",
            "Curator.app/Contents/MacOS/curator",
            "zip",
            tried=False,
        )
    if platform == "win32":  # the layout of the embeddable package; pythonw opens no console
        return Target(
            "windows-x86_64",
            "python/pythonw.exe",
            "python/Lib/site-packages",
            "curator.cmd",
            "zip",
            tried=False,
        )
    raise ValueError(f"There is no bundle for {platform}: linux, darwin and win32 have one.")
