"""The location and kind of this installation, and a check that its packages are its own.

The network is not used. `check_packages` runs before anything else, so this module imports nothing slow.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path

from curator import __version__
from curator.domain.wording import UserError, tr

PACKAGES = ("models", "training", "resources")
"""Our packages other than `curator`; other distributions use the same names."""
MARK = "__curator__ = True"
"""A line of each one's `__init__.py`."""
ELSEWHERE = (
    "The Python package “{name}” that is found first is not Curator's but that of {owner} ({place}), so Curator cannot "
    "start. Install Curator into an environment of its own, for example with `pipx install` or `uv tool install`."
)
INCOMPLETE = (
    "The Python package “{name}”, which is a part of Curator, is missing or incomplete in {place}, so Curator cannot "
    "start. Install Curator again, in an environment of its own, for example with `pipx install` or `uv tool install`."
)


class How(Enum):
    BUNDLE = "bundle"
    DEB = "deb"
    PIPX = "pipx"
    UV = "uv"
    CLONE = "clone"
    WHEEL = "wheel"


HOW_WORDS = {
    How.BUNDLE: "from the archive",
    How.DEB: "from the Debian package",
    How.PIPX: "with pipx",
    How.UV: "with uv tool",
    How.CLONE: "from a clone of the source",
    How.WHEEL: "with pip",
}


@dataclass(frozen=True)
class Installation:
    """`folder` is that of the bundle, the clone or the environment; `launcher` is the program in it that starts
    Curator."""

    version: str
    folder: Path
    how: How
    launcher: tuple[str, ...]


def this_installation(prefix: Path | None = None, program: Path | None = None) -> Installation:
    """The installation of the running program. `prefix`: its Python environment; `program`: the folder of the
    package."""
    prefix = prefix or Path(sys.prefix)
    program = program or Path(__file__).parents[3]
    bundle = bundle_folder(prefix)
    if bundle is not None:
        how = How.DEB if _facts(bundle).get("how") == "deb" else How.BUNDLE
        return Installation(__version__, bundle, how, (str(bundle / "curator"),))
    script = prefix / ("Scripts/curator.exe" if sys.platform == "win32" else "bin/curator")
    launcher = (str(script),) if script.is_file() else (sys.executable, "-m", "curator")
    if (program / "pyproject.toml").is_file():
        return Installation(__version__, program, How.CLONE, launcher)
    how = How.WHEEL
    if (prefix / "pipx_metadata.json").is_file():
        how = How.PIPX
    elif (prefix / "uv-receipt.toml").is_file():
        how = How.UV
    return Installation(__version__, prefix, how, launcher)


def bundle_folder(prefix: Path) -> Path | None:
    """The folder of the bundle whose Python has this prefix; None if there is none."""
    return prefix.parent if prefix.name == "python" and (prefix.parent / "bundle.json").is_file() else None


def _facts(bundle: Path) -> dict[str, object]:
    try:
        found = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def check_packages() -> None:
    """Raises UserError if another distribution's package shadows one of ours."""
    for name in PACKAGES:
        spec = find_spec(name)
        origin = Path(spec.origin) if spec is not None and spec.origin is not None else None
        if origin is None:
            raise UserError(tr(INCOMPLETE, name=name, place=Path(__file__).parents[3]))
        if not _is_ours(origin):
            raise UserError(tr(ELSEWHERE, name=name, owner=_owner(name), place=origin.parent))


def _is_ours(init: Path) -> bool:
    try:
        return MARK in init.read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return False


def _owner(package: str) -> str:
    from importlib.metadata import packages_distributions  # looks at every installed package

    others = sorted(set(packages_distributions().get(package, [])) - {"curator"})
    return ", ".join(others) or tr("another folder")
