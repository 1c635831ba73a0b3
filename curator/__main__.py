"""`curator` and `python -m curator`."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from curator.cli.main import run

        code = run()
    except KeyboardInterrupt:  # Ctrl+C before the command line was there to catch it
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
