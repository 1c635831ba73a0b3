"""`curator` and `python -m curator`."""

from __future__ import annotations

import sys


def main() -> None:
    from curator.cli.main import run

    sys.exit(run())


if __name__ == "__main__":
    main()
