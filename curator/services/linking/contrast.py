"""Asks the linker which words of the context distinguish two candidates, only for the current mention."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from curator.domain.documents import Mention
from curator.domain.jobs import JobOutcome, JobState, LinkerState
from curator.domain.suggestions import Contrast, Stamp
from curator.domain.wording import tr
from curator.services.core.context import Context, Service
from curator.services.core.keys import active_bundle
from curator.services.linking.linking import link_document
from curator.services.ports.processes import LinkerPort
from curator.services.queue.queue import OpenDocument

KEPT = 64
NEAR = 2_000
"""Code points around a mention: the linker weighs its sentence, and links the other mentions there."""
NOT_SERVING = "The linker is not ready, so the words of the context cannot be weighed now."
CHANGED = "The text or the linker changed in the meantime."
Answered = Callable[[Contrast | str], None]
"""Gets the contrast, or a sentence with the reason why there is none; called from the linker's thread, or at once."""
_Key = tuple[int, str, str, Stamp]


class ContrastService(Service):
    """One request at a time: a new one cancels the previous one."""

    def __init__(self, context: Context, linker: LinkerPort) -> None:
        super().__init__(context)
        self._linker = linker
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, Contrast] = OrderedDict()
        self._number = 0
        self._request: int | None = None

    def ask(self, opened: OpenDocument, mention_id: int, pair: tuple[str, str], *, then: Answered) -> None:
        """Returns at once. `then` is called once, or never if another request or `cancel` came first."""
        self.cancel()
        number = self._number
        near = _near(opened, mention_id)
        with self._store.read() as unit:
            bundle_id = active_bundle(unit.meta)
            opinions = unit.suggestions.opinions([one.id for one in near])
            document = link_document(opened.document, near, unit.meta.type_mapping(), opinions)
        status = self._linker.status
        if status.state is not LinkerState.READY or status.bundle_id != bundle_id:
            then(tr(NOT_SERVING))
            return
        stamp = Stamp(bundle_id, document.revision)
        known = self._kept.get((mention_id, *pair, stamp))
        if known is not None:
            then(known)
            return

        def answered(contrast: Contrast) -> None:
            if self._is_current(number):
                then(self._keep(contrast) if contrast.stamp == stamp else tr(CHANGED))

        def ended(outcome: JobOutcome) -> None:
            if outcome.state not in (JobState.DONE, JobState.CANCELLED) and self._is_current(number):
                then(outcome.message)

        request = self._linker.contrast(
            document, mention_id=mention_id, entity_ids=pair, on_answer=answered, on_end=ended
        )
        if self._is_current(number):
            self._request = request

    def cancel(self) -> None:
        """Cancel a running request; it is not answered."""
        with self._lock:
            self._number += 1
            request, self._request = self._request, None
        if request is not None:
            self._linker.cancel(request)

    def _is_current(self, number: int) -> bool:
        with self._lock:
            return number == self._number

    def _keep(self, contrast: Contrast) -> Contrast:
        with self._lock:
            self._kept[contrast.mention_id, contrast.first, contrast.second, contrast.stamp] = contrast
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return contrast


def _near(opened: OpenDocument, mention_id: int) -> list[Mention]:
    """The mention and those around it: to read and send all of a book would hold up the next key."""
    view = opened.view(mention_id)
    if view is None or not view.mention.spans:
        return []
    spans = view.mention.spans
    first, last = min(one.start for one in spans) - NEAR, max(one.end for one in spans) + NEAR
    mentions = (other.mention for other in opened.mentions)
    return [one for one in mentions if any(first < span.end and span.start < last for span in one.spans)]
