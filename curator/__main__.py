"""`curator` and `python -m curator`."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from curator.domain.wording import UserError
        from curator.services.records.installation import check_packages

        try:
            check_packages()
        except UserError as error:
            print(error, file=sys.stderr)  # noqa: T201 - the command line is not there yet
            sys.exit(2)
        from curator.cli.main import run

        code = run()
    except KeyboardInterrupt:  # Ctrl+C before the command line could catch it
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
