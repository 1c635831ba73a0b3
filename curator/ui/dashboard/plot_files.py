"""Plots written to files: SVG with real text, comma-separated values, JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from curator.bootstrap import AtomicWriter
from curator.domain.statistics import Plot
from curator.domain.wording import UserError, tr
from curator.ui.dashboard.plot_painter import Canvas, height_of, paint_plot
from curator.ui.kit.row_list import scaled
from curator.ui.kit.theme import LIGHT

WIDTH, MARGIN = 720, 16
SCREEN_DPI = 96
"""The resolution that Qt uses to measure text by default, so that text in the file has the size of its space."""


def svg(plot: Plot, font: QFont) -> bytes:
    """The plot with its title and summary, dark on white regardless of the window's colours."""
    from PySide6.QtSvg import QSvgGenerator  # imported when a plot is saved

    title, small = scaled(font, 1.15, bold=True), scaled(font, 0.9)
    head = QFontMetricsF(title).height() + 2.4 * QFontMetricsF(small).height()
    height = round(2 * MARGIN + head + height_of(plot, small) * 1.15)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(QSize(WIDTH, height))
    generator.setViewBox(QRect(0, 0, WIDTH, height))
    generator.setResolution(SCREEN_DPI)
    generator.setTitle(plot.title)
    generator.setDescription(f"{plot.summary} {plot.note}".strip())
    painter = QPainter(generator)
    painter.fillRect(QRect(0, 0, WIDTH, height), Qt.GlobalColor.white)
    box = QRectF(MARGIN, MARGIN, WIDTH - 2 * MARGIN, height - 2 * MARGIN)
    canvas = Canvas(painter, box.adjusted(0, head, 0, 0), small, LIGHT)
    painter.setPen(canvas.text)
    painter.setFont(title)
    painter.drawText(box, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop), plot.title)
    painter.setFont(small)
    painter.setPen(LIGHT.muted)
    below = box.adjusted(0, QFontMetricsF(title).height(), 0, 0)
    painter.drawText(below, int(Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap), plot.summary)
    paint_plot(canvas, plot)
    painter.end()
    buffer.close()
    return bytes(data.data())


def save_plot(plot: Plot, path: Path, font: QFont) -> None:
    """Save a plot in the format of the suffix: .svg, .csv or .json. Raises UserError if it cannot be written."""
    ending = path.suffix.lower()
    if ending == ".svg":
        content = svg(plot, font)
    elif ending == ".csv":
        content = plot.csv().encode()
    elif ending == ".json":
        content = _json(plot.as_json())
    else:
        raise UserError(tr("{name} must end in .svg, .csv or .json: the ending sets the format.", name=path.name))
    AtomicWriter().write({path: content})


def save_all(plots: Sequence[Plot], figures: dict[str, Any], folder: Path, font: QFont) -> int:
    """Save every non-empty plot as SVG and CSV, and all figures in `figures.json`, all at once; returns the number of
    plots. Raises UserError if the folder is not writable.
    """
    shown = [one for one in plots if not one.is_empty]
    files = {folder / "figures.json": _json(figures)}
    for plot in shown:
        files[folder / f"{plot.id}.svg"] = svg(plot, font)
        files[folder / f"{plot.id}.csv"] = plot.csv().encode()
    AtomicWriter().write(files)
    return len(shown)


def _json(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()
