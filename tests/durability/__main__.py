"""`python -m tests.durability`: attack the program's storage for some minutes and report; see README.md."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.durability.shim import VARIABLE, NoCompiler, compile_shim

SLACK = 90.0
"""Seconds that a worker may need beyond its time: to prepare, and to end its last attempt."""


def main() -> int:
    options = _options()
    if options.worker is not None:
        from tests.durability.worker import work

        work(options)
        return 0
    shared = Path("/dev/shm")
    place = str(shared) if shared.is_dir() and os.access(shared, os.W_OK) else None
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the workers and removes the folder
    base = Path(tempfile.mkdtemp(prefix="curator-durability-", dir=place))
    try:
        shim = compile_shim(base)
        return _run(options, base, shim)
    except NoCompiler as error:
        print(error)
        return 3
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.durability", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="how long to attack")
    parser.add_argument("--attempts", type=int, metavar="N", help="end after N in each scenario, campaign and worker")
    parser.add_argument("--workers", type=int, default=min(8, 2 * (os.cpu_count() or 1)))
    parser.add_argument("--only", nargs="*", default=[], metavar="SCENARIO", help="only these scenarios")
    parser.add_argument("--campaigns", nargs="*", default=[], help="stops, kills, power, faults, reads; all without")
    parser.add_argument("--break", dest="fault", metavar="FAULT", help="break the program first; see breaking.py")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--report", type=Path, default=Path("durability-report"), help="the name of .json and .txt")
    parser.add_argument("--list", action="store_true", help="list the scenarios")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--base", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        from tests.durability.scenarios import scenarios

        if unknown := set(options.only).difference(one.name for one in scenarios()):
            parser.error(f"no scenario is called {', '.join(sorted(unknown))}; --list lists them")
    return options


def _run(options: argparse.Namespace, base: Path, shim: Path) -> int:
    if options.list:
        from tests.durability.scenarios import scenarios

        print("\n".join(one.name for one in scenarios()))
        return 0
    from tests.durability.report import Report

    environment = {**os.environ, VARIABLE: str(shim), "LD_PRELOAD": str(shim)}
    command = [sys.executable, "-m", "tests.durability", "--base", str(base), "--minutes", str(options.minutes)]
    command += ["--workers", str(options.workers), "--seed", str(options.seed)]
    command += ["--only", *options.only] if options.only else []
    command += ["--campaigns", *options.campaigns] if options.campaigns else []
    command += ["--attempts", str(options.attempts)] if options.attempts else []
    command += ["--break", options.fault] if options.fault else []
    begun = time.monotonic()
    workers = [
        subprocess.Popen([*command, "--worker", str(number)], env=environment) for number in range(options.workers)
    ]
    codes = []
    try:
        for worker in workers:
            left = options.minutes * 60 * 1.2 + SLACK - (time.monotonic() - begun)
            codes.append(worker.wait(timeout=max(1.0, left)))
    finally:
        for worker in workers:
            worker.kill()
    report = Report.together([json.loads((base / f"{n}.json").read_text()) for n in range(options.workers)])
    text = report.text(seconds=time.monotonic() - begun, seed=options.seed)
    options.report.parent.mkdir(parents=True, exist_ok=True)
    options.report.with_suffix(".json").write_text(report.json(), encoding="utf-8")
    options.report.with_suffix(".txt").write_text(text, encoding="utf-8")
    print(text)
    return 1 if report.faults() or any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
