"""Five curators at once for a short while, with the server killed under them; see `team_day.py`."""

from __future__ import annotations

import pytest

from tests.endurance import team_day
from tests.postgres import NoServerError, binaries


@pytest.mark.soak
def test_nothing_is_lost_nor_handed_out_twice() -> None:
    try:
        binaries()
    except NoServerError as error:
        pytest.skip(str(error))
    found = team_day.main(["--curators", "5", "--minutes", "1", "--kills", "3", "--pace", "0.5"])
    assert found["decisions saved"] > 100
    assert (found["decisions lost"], found["documents handed out twice"], found["news that never came"]) == (0, 0, 0)
    assert found["next decision after a return, worst, s"] < 30  # without other work on the computer, 5
