"""The text of *Help > Copy diagnostics*: everything about the installation, nothing of any document."""

from __future__ import annotations


class DiagnosticsService:
    def text(self) -> str:
        raise NotImplementedError
