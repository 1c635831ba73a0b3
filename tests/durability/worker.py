"""A process that runs attempts: the program is imported and used once, then every attempt is two forks of it."""

from __future__ import annotations

import argparse
import gc
import importlib
import itertools
import logging
import time
from collections.abc import Iterator
from contextlib import suppress

from tests.durability.breaking import break_program
from tests.durability.campaigns import CAMPAIGNS, Attempt, attempt, attempts
from tests.durability.folders import base, write_inputs
from tests.durability.jobs import use_stubs
from tests.durability.report import Report
from tests.durability.runs import Reference, Stage
from tests.durability.scenarios import Scenario, scenarios
from tests.durability.world import curator, open_project

SHARES = {"stops": 12, "kills": 1, "power": 12, "faults": 3, "reads": 3}
"""Attempts of each campaign in a scenario's turn."""
MANY = 4
"""With so many scenarios for each worker, they share out the scenarios; with fewer, the attempts on each."""


def work(options: argparse.Namespace) -> None:
    stage = Stage(options.base / f"worker-{options.worker}")
    _warm(stage)
    ends = time.monotonic() + options.minutes * 60
    if options.fault:
        break_program(options.fault)
    report = Report()
    chosen = [one for one in scenarios() if not options.only or one.name in options.only]
    campaigns = options.campaigns or CAMPAIGNS
    shard = options.worker, options.workers
    if len(chosen) >= MANY * options.workers:  # each prepares its own scenarios only
        chosen, shard = chosen[options.worker :: options.workers], (0, 1)
    running: list[tuple[Scenario, Reference, str, Iterator[Attempt]]] = []
    for scenario in chosen:
        if time.monotonic() > ends - options.minutes * 30:  # half of the time is for attempts
            break
        try:
            reference = stage.reference(scenario)
        except AssertionError as error:
            report.broken(scenario.name, str(error))
            continue
        report.known(scenario.name, reference)
        for campaign in campaigns:
            coming = attempts(campaign, reference, seed=options.seed, shard=shard)
            running.append((scenario, reference, campaign, itertools.islice(coming, options.attempts)))
    while running and time.monotonic() < ends:
        for turn in tuple(running):
            if not _turn(stage, turn, report, ends):
                running.remove(turn)
    stage.close()
    (options.base / f"{options.worker}.json").write_text(report.json(), encoding="utf-8")


def _turn(stage: Stage, turn: tuple[Scenario, Reference, str, Iterator[Attempt]], report: Report, ends: float) -> bool:
    """Whether there may be more."""
    scenario, reference, campaign, coming = turn
    for _ in range(SHARES[campaign]):
        if time.monotonic() > ends:
            return True
        if (one := next(coming, None)) is None:
            return False
        begun = time.monotonic()
        outcome = attempt(stage, scenario, reference, one)
        report.take(scenario.name, one, outcome, seconds=time.monotonic() - begun)
    return True


def _warm(stage: Stage) -> None:
    """Import and run what the scenarios will, so that the forks find it in memory."""
    from curator.cli.main import COMMANDS

    for module, _, _ in COMMANDS.values():
        with suppress(ImportError):
            importlib.import_module(module)
    logging.getLogger().addHandler(logging.NullHandler())  # failing disks are what is wanted here
    use_stubs()
    write_inputs(stage.place)
    base(stage.place)
    open_project(stage.place).close()
    curator("decide", stage.place.project, 1, "--nil", "not-in-kb")
    curator("undo", stage.place.project)
    gc.collect()
    gc.freeze()
