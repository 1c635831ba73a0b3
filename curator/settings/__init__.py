"""The user's settings: one frozen schema from which the dialog and the manual's table derive."""

from curator.settings.choices import DeviceChoice, Language, Option, OptionKind, PageOpening, SameString, Snapping
from curator.settings.file import LoadedSettings, config_folder, load, save
from curator.settings.schema import Settings, default, options, with_value
from curator.settings.state import read_state, write_state

__all__ = [
    "DeviceChoice",
    "Language",
    "LoadedSettings",
    "Option",
    "OptionKind",
    "PageOpening",
    "SameString",
    "Settings",
    "Snapping",
    "config_folder",
    "default",
    "load",
    "options",
    "read_state",
    "save",
    "with_value",
    "write_state",
]
