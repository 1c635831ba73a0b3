"""The bottom bar: background work on the left, the next keys on the right."""

from __future__ import annotations

import time

from PySide6.QtCore import QPointF, QRectF, QSize, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from curator.commands.command import WindowState
from curator.domain.wording import percent, tr
from curator.ui.jobs.jobs import JobKind, Jobs, RunningJob, figures_words, left_words
from curator.ui.kit.compose import button, row
from curator.ui.kit.key_names import key_of, keys_between
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.notices import NoticeLine, Notices
from curator.ui.kit.row_list import draw_key, draw_words, scaled
from curator.ui.kit.theme import theme_of
from curator.ui.kit.window_calls import Later

SMALL = 0.88
MESSAGE_MS = 4000
NOTICE_ROOM = 600
"""Pixels for an unread result and a message; key hints return once it is read."""
NOTICE_LEAST = 360
"""Pixels that an unread result keeps beside a message."""
JOB_CHARACTERS = 16
"""The least visible characters of the job line; key hints are removed before it becomes shorter."""
Hint = tuple[str, str]  # key, action


class JobLine(QWidget):
    """The last job started: title, bar, step, time left, figures, Details, Cancel."""

    details_wanted = Signal(object)  # RunningJob
    list_wanted = Signal()

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._title = ElidedLabel(bold=True, parent=self)
        self._bar = JobBar(tr("Progress of background work"), self)
        self._bar.setFixedWidth(160)
        self.words = ElidedLabel(muted=True, parent=self)
        details = tr("Details of the retraining")
        self._details = button(tr("Details"), lambda: self.details_wanted.emit(jobs.shown), name=details, parent=self)
        self.all = button(tr("All…"), self.list_wanted.emit, name=tr("All background work"), parent=self)
        self._cancel = button(tr("Cancel"), jobs.cancel, name=tr("Cancel background work"), parent=self)
        buttons = (self._details, self.all, self._cancel)
        for one in buttons:
            one.setFlat(True)
            one.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        row((self._title, 2), self._bar, (self.words, 3), *buttons, of=self, spacing=10)
        self._timer = QTimer(self)
        self._timer.setInterval(1000)
        self._timer.timeout.connect(self.show_jobs)
        jobs.changed.connect(self.show_jobs)
        jobs.progressed.connect(self.show_jobs)
        self.show_jobs()

    def least_width(self) -> int:
        """The least width at which the job is recognisable."""
        return self.minimumSizeHint().width() + JOB_CHARACTERS * self.fontMetrics().averageCharWidth()

    def show_jobs(self) -> None:
        job = self._jobs.shown
        for part in (self._title, self._bar, self.words, self.all, self._cancel):
            part.setVisible(job is not None)
        self._details.setVisible(job is not None and job.kind is JobKind.TRAIN)
        if job is None:
            self._timer.stop()
            return
        if not self._timer.isActive():
            self._timer.start()
        more = len(self._jobs) - 1
        self._title.set_words(job.title + (tr(" (and {more} more)", more=more) if more else ""))
        self._bar.show_job(job)
        self.words.set_words(words_of(job, time.monotonic()))
        self._cancel.setEnabled(not job.cancelling)


def words_of(job: RunningJob, now: float) -> str:
    """Step, percentage, remaining time and figures in one line."""
    if job.cancelling:
        return tr("Cancelling…")
    progress = job.progress
    share = percent(progress.fraction, 0) if progress.fraction is not None else ""
    phase = tr(progress.phase)
    left = left_words(job.seconds_left(now), step=job.kind is JobKind.TRAIN)
    parts = (phase, share, left, figures_words(progress), progress.text)
    return " · ".join(part for part in parts if part)


class JobBar(QProgressBar):
    """The progress of a job as a plain rounded bar without a number, which the words next to it give."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFixedHeight(10)
        self.setTextVisible(False)
        self.setStyleSheet(
            "QProgressBar { border: 0; border-radius: 5px; background: palette(mid); }"
            "QProgressBar::chunk { border-radius: 5px; background: palette(accent); }"
        )

    def show_job(self, job: RunningJob) -> None:
        fraction = job.progress.fraction if not job.cancelling else None
        self.setRange(0, 1000 if fraction is not None else 0)
        self.setValue(round(1000 * (fraction or 0)))


class KeyHints(QWidget):
    """The keys that matter now; with `gives_way`, the last ones are left out if there is little room."""

    def __init__(self, parent: QWidget | None = None, *, gives_way: bool = False) -> None:
        super().__init__(parent)
        self._hints: tuple[Hint, ...] = ()
        self._measured: dict[tuple[str, str, str], tuple[float, float]] = {}
        across = QSizePolicy.Policy.Maximum if gives_way else QSizePolicy.Policy.Fixed
        self.setSizePolicy(across, QSizePolicy.Policy.Preferred)

    def set_hints(self, english: tuple[Hint, ...]) -> None:
        """Words and keys in English; they are shown in the user's language."""
        hints = tuple((tr("Space") if key == "Space" else key, tr(words)) for key, words in english)
        if hints != self._hints:
            self._hints = hints
            self.setAccessibleName(tr("Keys: ") + ", ".join(f"{key} {words}" for key, words in hints))
            self.updateGeometry()
            self.update()

    @property
    def shown(self) -> tuple[Hint, ...]:
        return self._hints

    def sizeHint(self) -> QSize:
        width = sum(self._widths(key, words)[1] for key, words in self._hints)
        return QSize(int(width) + 4, int(QFontMetricsF(self.font()).height()) + 10)

    def minimumSizeHint(self) -> QSize:
        first = max((self._widths(*hint)[1] for hint in self._hints[:1]), default=0.0)
        return QSize(int(first) + 4, self.sizeHint().height())

    def _widths(self, key: str, words: str) -> tuple[float, float]:
        """Widths of the key cap and of the whole hint with the space after it; measured once."""
        look = self.font().key(), key, words
        if look not in self._measured:
            metrics = QFontMetricsF(scaled(self.font(), SMALL))
            cap = max(metrics.horizontalAdvance(key) + 10, metrics.height() + 2)
            self._measured[look] = cap, cap + 5 + metrics.horizontalAdvance(words) + 14
        return self._measured[look]

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, font = theme_of(self.palette()), scaled(self.font(), SMALL)
        height = QFontMetricsF(font).height() + 3
        place = QPointF(0.5, (self.height() - height) / 2)
        for key, words in self._hints:
            cap, whole = self._widths(key, words)
            if place.x() + whole > self.width():
                break
            draw_key(painter, QRectF(place.x(), place.y(), cap, height), key, font=font, theme=theme)
            rest = QRectF(place.x() + cap + 5, place.y(), whole - cap - 5, height)
            draw_words(painter, rest, words, font=font, colour=theme.muted)
            place.setX(place.x() + whole)
        painter.end()


class BottomBar(QWidget):
    """Job line, last action, newest unread result, and key hints; its height never changes. If a result is waiting, a
    message disappears after some seconds."""

    def __init__(self, jobs: Jobs, notices: Notices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._notices = notices
        self.job = JobLine(jobs, self)
        self.notice = NoticeLine(notices, self)
        self.message = ElidedLabel(muted=True, parent=self)
        self.hints = KeyHints(self)
        self._timer = QTimer(self, singleShot=True, interval=MESSAGE_MS)
        self._late = Later(self, self._turn)  # changed parts are laid out after the repaint of a key press
        parts = ((self.job, 3), (self.message, 1), (self.notice, 2), self.hints)
        self._line = row(*parts, of=self, margins=(12, 3, 8, 3), spacing=16)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._timer.timeout.connect(self._turn)
        jobs.changed.connect(self._turn)
        notices.changed.connect(self._turn)
        self._turn()

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.hints.sizeHint().height() + 10)

    def show_state(self, state: WindowState, *, searching: bool = False, many: tuple[Hint, ...] = ()) -> None:
        """`many`: show the keys of a focused list of mentions."""
        self.hints.set_hints(many or (search_hints() if searching else hints_for(state)))
        self._turn()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def say(self, words: str) -> None:
        """Show a sentence; only for some seconds if background work is running."""
        self.message.set_words(words)
        self._timer.start() if words else self._timer.stop()
        self._late.start()

    def _turn(self) -> None:
        job = len(self._jobs) > 0 and not self._timer.isActive()
        self.job.setVisible(job)
        waits = len(self._notices) > 0
        self.message.setVisible(not job and (not waits or self._timer.isActive()))
        room = self.width() - self.hints.sizeHint().width()
        roomy = not waits or room > (2 if job else 1) * NOTICE_ROOM
        roomy = roomy and (not job or room > self.job.least_width())
        words = QFontMetricsF(self.font()).horizontalAdvance(self.message.words) if self._timer.isActive() else 0.0
        fits = words + 40 + (NOTICE_LEAST if waits else 0) <= room
        self.hints.setVisible(roomy and (not words or fits))
        rest = (room if roomy and fits else self.width()) - words
        self._line.setStretchFactor(self.message, max(int(words), 1))
        self._line.setStretchFactor(self.notice, max(int(rest), NOTICE_LEAST) if words else 2)


def hints_for(state: WindowState) -> tuple[Hint, ...]:
    """At most eight hints, main actions first; commands without a key are left out."""
    return tuple((key, words) for key, words in _hints(state) if key)


def _hints(state: WindowState) -> tuple[Hint, ...]:
    keys = (key_of("help.keys"), tr("keys"))
    if not state.project or not state.document:
        return ((key_of("project.import"), tr("import documents")), (key_of("help.manual"), tr("manual")), keys)
    if state.verdicts:
        digits = f"1–{state.verdicts}" if state.verdicts > 1 else "1"
        marked = (key_of("mention.accept"), tr("the highlighted one"))
        return ((digits, tr("adopt a judgement")), marked, ("Esc", tr("back to the text")), keys)
    if state.drafting:
        return (("↵", tr("create and link")), ("Esc", tr("back to the text")))
    if not state.writable or not state.mention:
        return (
            (key_of("mention.next"), tr("next mention")),
            (key_of("queue.next"), tr("next document")),
            (key_of("mention.create"), tr("add mention")),
            keys,
        )
    hints: tuple[Hint, ...] = ()
    if state.candidates or state.nil_suggested:
        accepts = tr("accept NIL") if state.nil_suggested else tr("accept")
        hints = ((keys_between("mention.choose1", "mention.choose9"), tr("choose")),)
        if not state.decided:  # Enter only says so then
            hints = ((key_of("mention.accept"), accepts), *hints)
    if state.complete:
        hints = ((key_of("queue.done"), tr("done, next document")), *hints)
    return (
        *hints,
        (" ".join(dict.fromkeys(filter(None, map(key_of, ("mention.nil", "mention.nil_usual"))))), "NIL"),
        (key_of("mention.reject"), tr("reject")),
        (key_of("mention.skip"), tr("skip")),
        (key_of("mention.search"), tr("search")),
        (key_of("edit.undo"), tr("undo")),
        keys,
    )


def search_hints() -> tuple[Hint, ...]:
    return (("↓ ↑", tr("go through")), ("↵", tr("link")), ("Esc", tr("back to the text")))
