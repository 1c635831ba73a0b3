"""Building, training, evaluating and replacing the linker, each in a child process: recipes, runs, bundles, evaluation.

`RetrainingService` holds recipes, previews, trainings, promotion, rollback, index builds and calibration.
`EvaluationService` calculates a bundle's figures on the gold of one split, and `SuspiciousService` lists decisions that
models fitted on other documents find unlikely, both in a child process. `ReplayService` makes decisions from gold like
a curator.

* **Lexical first.** After an import of a knowledge base two untrained bundles are built: a lexical one within seconds,
  which is used at once, and the full one (lexical and dense over names) when its index is ready. Bundles are immutable.
  Each has its own combiner and NIL model: used without dense names, those of the full bundle were 1.7 points of
  recall@1 worse on BC5CDR's dev mentions (88.7 against 90.4).
* **Weights fitted on the project are a bundle too** (`calibration.py`), which shares its large files with the old one
  through hard links. It is built after an index build and whenever the number of links has doubled since the last time,
  with at least 200, and used if its gate allows it. Until NIL can be fitted here (30 NIL, 100 links), the model that
  comes with the program is used (`resources/calibration.json`, made by `tests/benchmarks/nil_fit.py`) and marked as
  not calibrated.
* **A training works in `bundles/.training/ID/`** (specification, snapshot, checkpoints). The folder stays if a process
  or the computer dies or the program is closed, and is removed after success or cancellation.
* **Deleting a bundle** renames its folder into a staging folder first; shared files survive, since they are hard links.
  Every change of the bundle in use is recorded with curator, time and reason.
"""
