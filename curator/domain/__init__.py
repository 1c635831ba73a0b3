"""The terms of the program as frozen dataclasses and enums; standard library only.

Each module is its own face: it has one subject and no behaviour, so a common list of names would only repeat them.

* **English is written in the source and translated where it is shown.** `wording.py` holds `tr` and `ntr`, so that
  every layer can call them; none does so at import. Commands and settings are stored in English. The catalogue is a
  `.po` file that is read at the start: a compiled file would have to be kept up to date. Services and storage translate
  their sentences where they are built, so a step of the history keeps the language of the person who took it. Child
  processes get the window's language in their environment (`curator/jobs/child.py`) and hand `tr` to
  `models/errors.py`, whose `say` the models and the training use. Records that outlive a run (manifests, checkpoints,
  reports, logs) are in English (`english` of a sentence), and so is the command line, which has no choice of language.
* **Steps of long jobs have English names in the code**, where they are compared, and are translated where they are
  shown; `tests/translations.py` finds them in the calls of `Progress` and in `Phase`.
* **Composite links.** A decision with the outcome *link* may name several entities (`D003000|D001234`). Evaluation is
  by any match; all-match is given next to it.
* **The order of shuffled candidates depends only on the mention**, not on the ranking, so it reveals nothing about the
  ranking. A decision's `Shown` holds the displayed order and the scores, so that the ranking can be reconstructed.
"""
