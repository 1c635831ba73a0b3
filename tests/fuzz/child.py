"""The process that fuzzes targets with atheris, each until its time is up."""

from __future__ import annotations

import logging
import sys
import tempfile
import time
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["curator.io", "curator.domain"]):
    from curator.domain.wording import UserError  # noqa: F401  # loaded here so that it is instrumented
    from tests.fuzz import mutating, targets
    from tests.fuzz.session import MEMORY, Session

from tests.fuzz.seeds import seeds
from tests.fuzz.serving import serve

LONGEST = 100_000


def main(name: str, seconds: float, findings: Path) -> None:
    warnings.simplefilter("ignore")
    logging.disable()
    former = findings / f"{name}.corpus"
    known = seeds(name) + [one.read_bytes() for one in sorted(former.glob("*"))]
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as place:
        session = Session(targets.targets()[name], Path(place), findings)
        session.folder.joinpath("corpus").mkdir()
        (findings / f"{name}.place").write_text(place)
        started = time.monotonic()
        for number, data in enumerate(known):
            (session.folder / "corpus" / str(number)).write_bytes(data[:LONGEST])
            session.run(data)
        _fuzz(session, known, max(1, int(seconds - (time.monotonic() - started))))


def _fuzz(session: Session, known: list[bytes], seconds: int) -> None:
    def mutate(data: bytes, most: int, seed: int) -> bytes:
        if seed % 3 == 0:
            return atheris.Mutate(data, most)
        return mutating.changed(data, seed, known)[:most]

    options = [
        sys.argv[0],
        str(session.folder / "corpus"),
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        "-rss_limit_mb=4096",
        "-timeout=600",
        f"-artifact_prefix={session.folder}/",  # what libFuzzer itself leaves; findings are kept by the session
        "-print_final_stats=1",
        "-verbosity=0",
    ]
    atheris.Setup(options, session.run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    serve(main)
