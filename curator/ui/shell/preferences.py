"""Applies the user's settings to the window: colours, font size, candidates shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

from curator.commands.command import Keymap
from curator.domain.suggestions import CandidateOrder
from curator.domain.wording import UserError, tr
from curator.settings.file import LoadedSettings, config_folder, save
from curator.settings.schema import PageOpening, Settings, default, options, with_value
from curator.ui.kit.theme import Scheme, ThemeController

if TYPE_CHECKING:
    from curator.ui.shell.settings import SettingsDialog
    from curator.ui.shell.shortcuts import ShortcutsDialog

UNREAD = (
    "The change lasts until Curator is closed: the settings in {folder} could not be read at the start, so they are "
    "not replaced. Check the folder and start Curator again."
)


class Preferences(QObject):
    """Holds the current settings; each change is saved and applied at once."""

    changed = Signal()
    saved = Signal()

    def __init__(
        self,
        window: QWidget,
        theme: ThemeController,
        loaded: LoadedSettings,
        *,
        refuse: Callable[[str], None],
        name_held: Callable[[], str],
    ) -> None:
        """`name_held` gives the reason why the curator's name cannot change now, '' if it can."""
        super().__init__(window)
        self._window = window
        self.theme = theme
        self._loaded = loaded
        self._refuse = refuse
        self._name_held = name_held
        self.settings = loaded.settings

    @property
    def loaded(self) -> LoadedSettings:
        """The settings passed to a further window."""
        return replace(self._loaded, settings=self.settings, problems=())

    def apply(self) -> None:
        scheme = Scheme(self.settings.theme.value)
        if self.theme.scheme is not scheme:
            self.theme.set_scheme(scheme)
        self.theme.set_percent(self.settings.interface_size)
        self.changed.emit()

    @property
    def keymap(self) -> Keymap:
        return Keymap(self.settings.shortcuts)

    def reading_font(self, base: QFont) -> QFont:
        """The font of the text in the size from the settings."""
        font = QFont(base)
        font.setPointSize(self.settings.font_size)
        return font

    def edit(self) -> SettingsDialog:
        from curator.ui.shell.settings import SettingsDialog

        dialog = SettingsDialog(self.settings, name_held=self._name_held(), parent=self._window)
        dialog.accepted.connect(lambda: self._take(dialog.settings))
        dialog.open()
        return dialog

    def edit_shortcuts(self) -> ShortcutsDialog:
        from curator.ui.shell.shortcuts import ShortcutsDialog

        dialog = ShortcutsDialog(self.keymap, parent=self._window)
        dialog.accepted.connect(lambda: self._set("shortcuts", dialog.keymap.changed))
        dialog.open()
        return dialog

    def adopt(self, settings: Settings) -> None:
        """Apply settings saved by another window."""
        if settings != self.settings:
            self.settings = settings
            self.apply()

    def set_curator(self, name: str) -> None:
        """Set the curator's name for decisions from now on."""
        self._set("curator_name", name)

    def set_page_opening(self, opening: PageOpening) -> None:
        """Set the handling of addresses of entity pages from now on."""
        self._set("page_opening", opening)

    def keep(self, values: Mapping[str, Any]) -> None:
        """Save several settings by name. Raises UserError for an invalid value."""
        settings = self.settings
        for name, value in values.items():
            settings = with_value(settings, name, value)
        self._take(settings)

    def set_theme(self, name: str) -> None:
        self._set("theme", name)

    def shuffle_candidates(self) -> None:
        """Show candidates in random order without scores, or best first."""
        shuffled = self.settings.candidate_order is CandidateOrder.SHUFFLED
        self._set("candidate_order", CandidateOrder.RANKED if shuffled else CandidateOrder.SHUFFLED)

    def zoom(self, steps: int) -> None:
        """Enlarge or shrink the font by a point; 0 restores the default size."""
        option = next(one for one in options() if one.name == "font_size")
        size = self.settings.font_size + steps if steps else default("font_size")
        self._set("font_size", min(max(size, option.minimum), option.maximum))

    def step(self, name: str, by: int) -> None:
        """Increase or decrease a numeric setting within its limits."""
        option = next(one for one in options() if one.name == name)
        self._set(name, min(max(getattr(self.settings, name) + by, option.minimum), option.maximum))

    def _set(self, name: str, value: Any) -> None:
        self._take(with_value(self.settings, name, value))

    def _take(self, settings: Settings) -> None:
        self.settings = settings
        self.apply()
        try:
            if self._loaded.unread:  # all other settings would be replaced by their defaults
                raise UserError(tr(UNREAD, folder=config_folder()))
            save(settings, unknown=self._loaded.unknown)
        except UserError as error:
            self._refuse(str(error))
        self.saved.emit()
