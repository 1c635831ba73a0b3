"""The terms of the program as frozen dataclasses and enums; standard library only.

Each module is its own face: one subject, without behaviour, so a common list of names would only repeat them.

* **English is written in the source and translated where it is shown.** `wording.py` holds `tr` and `ntr`, so that
  every layer may call them, and none does so at import; commands and settings stay English inside. The catalogue is a
  `.po` file that is read at the start: a compiled one would have to be kept up to date as well. Services and storage
  translate their sentences where they are built, so a step of the history keeps the language of the person who took it.
  Child processes get the window's language in their environment (`curator/jobs/child.py`) and hand `tr` to
  `models/errors.py`, whose `say` the models and the training use. What outlives a run (manifests, checkpoints, reports,
  logs) keeps its English (`english` of a sentence), and so does the command line, which has no choice of language.
* **Steps of long work keep their English names inside**, where they are compared, and are translated where they are
  shown; `tests/translations.py` finds them in the calls of `Progress` and in `Phase`.
* **Composite links.** A decision with the outcome *link* may name several entities (`D003000|D001234`). Evaluation is
  by any match; all-match is given next to it.
* **Shuffled candidates depend on the mention alone**, not on the ranking, so that the order says nothing about it. A
  decision's `Shown` holds the order as it was seen and the scores, so that the ranking can be reconstructed.
"""
