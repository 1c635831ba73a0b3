"""The settings file: JSON in the user's configuration folder (`CURATOR_CONFIG_DIR` overrides)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from curator.domain.wording import UNPAIRED, UserError, tr
from curator.foreign_files import read_small
from curator.settings.schema import Settings, options, with_value

FILE = "settings.json"
MOST = 1 << 20
"""Bytes. A larger file was not written by Curator. Parsing it at each key would take too long."""
RETIRED = {"double_key"}
"""Settings of earlier versions that are in all their files; they are dropped silently."""
DAMAGED = "The settings in {path} could not be read ({error}); the defaults are used."
NO_OBJECT = "The settings in {path} are not a JSON object; the defaults are used."

VERSION, NOW = "settings_version", 2
OLD_DEFAULTS = {"holdout_percent": 2}
"""Defaults in files before this version."""


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """`problems` are sentences for the user; `unknown` are keys of another version, kept when saving. `unread`: the
    disk did not give the file, so it must not be replaced by these settings."""

    settings: Settings
    unknown: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    unread: bool = False


def config_folder() -> Path:
    return Path(os.environ.get("CURATOR_CONFIG_DIR") or platformdirs.user_config_dir("curator"))


def load(folder: Path | None = None) -> LoadedSettings:
    """Load the settings; defaults if the file is missing. A wrong value is replaced by its default and reported, never
    raised."""
    path = (folder or config_folder()) / FILE
    state = _state_of(path)
    held = _held.get(path)
    if held is not None and state is not None and held[0] == state:
        return held[1]
    loaded = _read(path)
    if state is not None and not loaded.problems:
        _held[path] = (state, loaded)
    return loaded


_FileState = tuple[int, int, int]
_held: dict[Path, tuple[_FileState, LoadedSettings]] = {}
"""The contents of each settings file when last read: settings are needed for every key, and reading the file takes 250
µs, checking for changes 8 µs."""


def _state_of(path: Path) -> _FileState | None:
    """A state that changes with the file, which is always replaced as a whole; None if it is not accessible."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0, 0  # needed for every key until the first setting is changed
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read(path: Path) -> LoadedSettings:
    try:
        raw = json.loads(_text(path))
    except FileNotFoundError:
        return LoadedSettings(Settings())
    except OSError as error:
        return LoadedSettings(
            Settings(),
            problems=(
                tr(
                    "The settings in {path} could not be read ({error}); the defaults are used.",
                    path=path,
                    error=error.strerror,
                ),
            ),
            unread=True,
        )
    except (ValueError, RecursionError) as error:
        return LoadedSettings(Settings(), problems=(_set_aside(path, DAMAGED, error=error),))
    if not isinstance(raw, dict):
        return LoadedSettings(Settings(), problems=(_set_aside(path, NO_OBJECT),))
    return _validated(raw, path)


def _text(path: Path) -> str:
    """Read once more where a read failed: with the defaults, decisions would have another name on them."""
    try:
        return read_small(path, MOST)
    except FileNotFoundError:
        raise
    except OSError:
        return read_small(path, MOST)


def save(settings: Settings, *, unknown: Mapping[str, Any] | None = None, folder: Path | None = None) -> Path:
    """Write all values to a temporary file and move it into place. Raises UserError if that is impossible."""
    path = (folder or config_folder()) / FILE
    unknown = {**(unknown or {}), VERSION: NOW}
    beside = path.with_suffix(".new")
    text = json.dumps({**unknown, **asdict(settings)}, indent=2, ensure_ascii=False) + "\n"
    text = UNPAIRED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)  # in unknown keys and values
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("w", encoding="utf-8") as file:
            beside.chmod(0o600)  # it may hold an API key
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise UserError(
            tr(
                "The settings could not be saved to {path} ({strerror}). Check the folder.",
                path=path,
                strerror=error.strerror,
            )
        ) from error
    return path


def _sync_folder(folder: Path) -> None:
    """Sync the folder's entries to disk; does nothing on systems without folder handles."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _set_aside(path: Path, sentence: str, **values: object) -> str:
    """Keep a copy of a damaged file before the next save overwrites it; returns sentences about it."""
    said = tr(sentence, path=path, **values)
    kept = path.with_suffix(".damaged.json")
    try:
        shutil.copyfile(path, kept)
    except OSError:
        return said
    return tr("{said} A copy of the old file is in {kept}.", said=said, kept=kept)


def _without_old_defaults(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Replace old defaults in an older file by the new ones: every save writes all values, so they were not chosen by
    the user."""
    old = OLD_DEFAULTS if raw.get(VERSION) != NOW else {}
    return {name: value for name, value in raw.items() if name != VERSION and (name, value) not in old.items()}


def _validated(raw: Mapping[str, Any], path: Path) -> LoadedSettings:
    raw = _without_old_defaults(raw)
    settings, problems = Settings(), []
    names = {one.name for one in options()}
    for name in sorted(names & raw.keys()):
        try:
            settings = with_value(settings, name, raw[name])
        except UserError as error:
            problems.append(tr("{path}: {error} The default is used.", path=path, error=error))
    unknown = {key: value for key, value in raw.items() if key not in names and key not in RETIRED}
    if unknown:
        problems.append(
            tr(
                "{path}: unknown settings {unknown} are kept and have no effect.",
                path=path,
                unknown=", ".join(sorted(unknown)),
            )
        )
    return LoadedSettings(settings, unknown, tuple(problems))


# Small data next to the settings: lists and layouts that may be lost without harm, each in a JSON file of its own.

_unread: set[Path] = set()
"""Files whose last read failed: what is made of nothing must not replace them."""


def read_state(name: str) -> Any:
    """The contents stored under this file name; None if missing or unreadable."""
    path = config_folder() / name
    _unread.discard(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    except OSError:
        _unread.add(path)
        return None


def write_state(name: str, what: Any) -> None:
    """Write atomically, but not over a file that could not be read just before. Errors are ignored."""
    path = config_folder() / name
    if path in _unread:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(what, indent=2), encoding="utf-8")  # in ASCII: paths may be no UTF-8
        beside.replace(path)
    except OSError:
        return
