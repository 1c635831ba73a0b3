"""Steps are done once, in the time there is; what failed is kept and tried again; the page shows all of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from models.errors import ModelError
from tests.gpu import checks, steps
from tests.gpu.names_alone import ASIDE, SLICES
from tests.gpu.plan import ALPHAS, MARGINS, PEL, SMALL, SPREAD, STAGES, STOCK, UNTRAINED, Plan, Size
from tests.gpu.report import report
from tests.gpu.steps import ENCODED, TRAINED, Results, Step, run_steps

FACTS = {"device": "the processor", "torch": "2"}


def run(wanted: list[Step], out: Path, *, minutes: float = 10.0) -> tuple[Results, list[str]]:
    results, said = Results.load(out), []
    run_steps(wanted, results, minutes=minutes, facts=FACTS, say=said.append)
    return results, said


def giving(figures: dict[str, Any], calls: list[int] | None = None) -> Callable[[], dict[str, Any]]:
    def work() -> dict[str, Any]:
        if calls is not None:
            calls.append(1)
        return figures

    return work


def test_a_step_is_done_once_unless_its_products_are_gone(tmp_path: Path) -> None:
    calls: list[int] = []
    product = tmp_path / "encoder"
    wanted = [Step("a", "a", giving({"x": 1}, calls), products=(product,), seed=3)]
    product.mkdir()
    for _ in range(2):
        results, _ = run(wanted, tmp_path)
    assert len(calls) == 1
    assert results.done["a"] | {"seconds": 0} == {"kind": "a", "seconds": 0, "seed": 3, **FACTS, "figures": {"x": 1}}
    product.rmdir()
    run(wanted, tmp_path)
    assert len(calls) == 2


def test_a_failure_is_kept_and_tried_again_and_stops_only_what_needs_it(tmp_path: Path) -> None:
    def broken() -> dict[str, Any]:
        raise ModelError("the disk is full")

    wanted = [Step("a", "a", broken), Step("b", "b", giving({})), Step("c", "c", giving({}), needs=("a", "b"))]
    results, said = run(wanted, tmp_path)
    assert list(results.done) == ["b"]
    assert "the disk is full" in results.failed["a"]
    assert results.left == {"c": "needs a"}
    assert said[0] == "failed: a: the disk is full"
    results, _ = run([Step("a", "a", giving({})), *wanted[1:]], tmp_path)
    assert set(results.done) == {"a", "b", "c"}
    assert not results.failed
    assert not results.left


def test_no_step_is_begun_that_would_not_fit_by_what_was_measured(tmp_path: Path, monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr(steps.time, "monotonic", lambda: now[0])

    def lasting(seconds: float, figures: dict[str, Any]) -> Callable[[], dict[str, Any]]:
        def work() -> dict[str, Any]:
            now[0] += seconds
            return figures

        return work

    wanted = [
        Step(ENCODED, ENCODED, lasting(1, {"texts_a_second": 100})),
        Step(TRAINED, TRAINED, lasting(1, {"texts_a_second": 10})),
        Step("first", "job", lasting(40, {}), trained=200, encoded=1000, fixed=5),
        Step("second", "job", lasting(40, {}), trained=10**9),
        Step("third", "job", lasting(40, {})),
        Step("short", "check", lasting(1, {}), fixed=1),
    ]
    results, said = run(wanted, tmp_path, minutes=2)
    assert results.seconds(wanted[2]) == pytest.approx(48), "the kind was measured: 1.2 times 40 s"
    assert list(results.done) == [ENCODED, TRAINED, "first", "second", "short"]
    assert results.left == {"third": "would take about 48 s, 38 s are left"}
    assert said[-2].startswith("left: third")
    results, _ = run(wanted, tmp_path / "other", minutes=40 / 60)
    assert results.left["first"] == "would take about 42 s, 38 s are left", "by the rates: 1.2 times 5 + 10 + 20 s"


def test_damaged_results_are_told(tmp_path: Path) -> None:
    (tmp_path / steps.RESULTS).write_text("{")
    with pytest.raises(ModelError, match="is damaged"):
        Results.load(tmp_path)


def names(right: str) -> dict[str, Any]:
    return {one: {"n": 4, "right": right.count("1") / 4, "hits": right, "sizes": [2, 2]} for one in SLICES}


def part(hits: str) -> dict[str, Any]:
    run = {"steps": 7, "seconds": 1.5}
    held_out = {"before_at_1": 0.1, "after_at_1": 0.5}
    return {
        "from": STOCK, "run": run, "held_out": held_out, "hits_1": hits, "hits_64": "1" * 4, "sizes": [2, 2],
        "nil_aupr": 0.25,
    }  # fmt: skip


def test_the_page_has_every_figure(tmp_path: Path) -> None:
    results = Results(tmp_path / steps.RESULTS)

    def put(name: str, figures: dict[str, Any]) -> None:
        results.done[name] = {"kind": name, "seconds": 1.0, "seed": None, **FACTS, "figures": figures}

    put(ENCODED, {"formats": {"float32": {"names_a_second": 5, "texts_a_second": 6}}})
    put(TRAINED, {"formats": {"fp32": {"texts_a_second": 7, "steps_a_second": 8, "last_loss": None}}})
    for name, right in zip(STAGES, ("0001", "0011", "0111", "1111"), strict=True):
        put(name, names(right))
    put(UNTRAINED, part("1111"))
    put(SPREAD, {"plain": 1.5, "squared": 30.0})
    for name in PEL:
        for seed in (0, 1):
            put(f"{name}, seed {seed}", part("0111" if "mixed" in name else "0100"))
    for units in MARGINS:
        for recipe in ("prototype", "triplet-downsampled"):
            put(f"{recipe}, margin {units:g} spreads, seed 0", part("0101"))
    for alpha in ALPHAS:
        put(f"amh-dual, α {alpha:g}, seed 0", part("0001"))
    results.failed["x"] = "ModelError: why\nmore"
    results.left["y"] = "no time"
    page = report(results, {"facts": {"smallest_cosine": 1.0}})
    assert "* device the processor; torch 2" in page
    assert "* packed: smallest_cosine: 1.0" in page
    assert "| names: both | 100.0 (+75.0" in page
    assert "| pel-ce mixed | 0, 1 | stock | 7 | 2 | 10.0 → 50.0 | 75.0" in page
    assert "| Mixed against random negatives, pel-pb | 1 | pel-pb mixed | pel-pb random | +50.0" in page
    assert page.count("Prototypes against down-sampled triplets") == len(MARGINS)
    assert "One spread is 1.5 of the distance, 30 of the squared distance." in page
    assert "* x: ModelError: why\n" in page
    assert "* y: no time" in page
    assert report(Results(tmp_path / "none"), None).startswith("# On a GPU")


def test_what_others_start_from_is_chosen_on_train(tmp_path: Path) -> None:
    results = Results(tmp_path / steps.RESULTS)
    for name, right in zip(STAGES, ("0001", "0011", "0111", "0111"), strict=True):
        results.done[name] = {"kind": name, "seconds": 1.0, "figures": names("1111") | {ASIDE: names(right)[ASIDE]}}
    assert Plan(None, results, "cpu", SMALL).base_name() == STAGES[2]  # type: ignore[arg-type]


def test_settings_are_what_the_recipes_allow() -> None:
    from training.job.recipes import load_recipe

    for size in (Size(), SMALL):
        for recipe, own in (("pel-ce", size.pel), ("pel-pb", size.pel), ("amh-dual", size.mixup)):
            load_recipe(recipe).values({**size.towers, **own})
        for recipe in ("prototype", "triplet", "triplet-downsampled"):
            load_recipe(recipe).values({**size.towers, **size.ranker, "margin": 1.0})
        for alpha in size.alphas:
            load_recipe("amh-dual").values({"alpha": alpha})


def test_products_are_exact_only_within(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(checks.torch, "set_float32_matmul_precision", asked.append)
    monkeypatch.setattr(checks.torch, "get_float32_matmul_precision", lambda: "high")
    with checks.products_in("highest"):
        assert asked == ["highest"]
    assert asked == ["highest", "high"]

    assert [name for name, *_ in checks._formats("cuda")] == ["float32", "TF32", "bf16", "fp16"]
    assert [name for name, *_ in checks._formats("cpu")] == ["float32"]


def test_results_are_plain_json(tmp_path: Path) -> None:
    run([Step("b", "b", giving({})), Step("a", "a", giving({"share": 0.5}))], tmp_path)
    assert list(Results.load(tmp_path).done) == ["b", "a"], "in the order in which they were done"
    assert json.loads((tmp_path / steps.RESULTS).read_text())["done"]["a"]["figures"] == {"share": 0.5}
