"""`curator stats`: the dashboard's figures on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.curator.cli.conftest import Cli


def test_the_figures_are_printed_for_people_and_for_programs(cli: Cli, project: Path) -> None:
    assert cli("decide", project, 1, "--link", "MESH:D008012", "--curator", "ada").code == 0
    assert cli("decide", project, 4, "--nil", "not-in-kb", "--curator", "bob").code == 0
    text = cli("stats", project, "--curator", "bob")
    assert text.code == 0, text.err
    assert "NIL among answers            100.0 %   1 of 1" in text.out
    assert "progress     1 decision, made on one day." in text.out
    found = cli("stats", project, "--json").json
    assert 0 < found["figures"]["nil"] < 1  # with the gold that came with the file
    assert found["filter"] == {"curator": None, "split": None, "since": None, "until": None}
    assert {"mentions", "ranks", "holdout", "recall", "agreement"} <= {one["id"] for one in found["plots"]}
    assert cli("stats", project, "--json", "--curator", "ada").json["figures"]["nil"] == 0.0
    assert cli("stats", project, "--json", "--since", "2999-01-01").json["figures"]["nil"] is None


def test_one_plot_is_csv(cli: Cli, project: Path) -> None:
    head = cli("stats", project, "--plot", "mentions").out.splitlines()[0]
    assert head == "State,Mentions"
    refused = cli("stats", project, "--plot", "nonsense")
    assert refused.code == 2
    assert "The plots are mentions, documents, progress" in refused.err
    assert cli("stats", project, "--since", "yesterday").code == 2
