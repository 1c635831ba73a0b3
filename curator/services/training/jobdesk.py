"""What every service that starts jobs works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from curator.services.ports import BundleStore, JobPort, Store
from curator.services.training.bundles import BundleSwitch
from curator.services.training.workplace import JobOptions, Workplace


@dataclass(frozen=True, slots=True)
class JobDesk:
    """`options` are asked for anew at each start, so that changed settings are felt at the next job."""

    store: Store
    jobs: JobPort
    bundles: BundleStore
    switch: BundleSwitch
    workplace: Workplace
    options: Callable[[], JobOptions]
