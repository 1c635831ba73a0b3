"""A PostgreSQL server for the tests of shared projects; they are skipped if none can be started."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres import NoServerError, Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    try:
        made = Server()
    except NoServerError as error:
        pytest.skip(str(error))
    yield made
    made.close()
