"""A job from recipe to verdict: preparation, training, assembly, fitting, and the gate.

* **Every retraining refits the weights** (`fitting.py`): with at least 200 links, combiner and NIL are fitted on the
  decisions, regularised towards the weights shipped with the program. As long as no stage in use was trained, train
  documents are used too: only the memory learned from them, and it never shows a document its own decisions. Once a
  stage was trained, only held-out documents are used. Both models are fitted with and without the memory, so that one
  model serves projects with many decisions and with none. The recipe *conventions* does only this; it evaluates every
  document with weights fitted on the others.
* **A new stage must help.** It is used if it makes held-out gold more likely by more than one standard error, and if
  the linker is better with it than with only the other weights refitted. The result's message gives both.
* **The gate** (`gate.py`) evaluates the sealed linker, out of fold. The linker in use answers unchanged, unless it was
  fitted on the same documents: then it is refitted without the fold. A bundle that is not better (“no gain”) is kept,
  and used only if the curator chooses it.
* **With fewer than 30 held-out NILs** (none in a wiki), the earlier NIL model is kept, and its threshold is raised
  until it calls no more held-out mentions NIL than there are. Without this, more than half of the mentions were called
  NIL in the demo's worlds, whose mentions match their entities' names less well than biomedical mentions.
* **The upper half of the names' encoder is trained in full** (`names_learning.py`), not by LoRA: the gradients of three
  layers of six take two thirds of the time (LoRA of rank 8 in all layers takes a third more than these, in the upper
  half a tenth less), the lower half's states stay usable, no other library is loaded, and a bundle holds one encoder
  (90 MB), as with an encoder chosen by the user. It does not train on pairs of synonyms: these made strings outside
  of the training decisions worse, mixed in or alone (`tests/benchmarks/experiments/NAMES.md`); only `names-full` adds
  them, and all layers, for a GPU. The trained encoder replaces the old one, so it must be better than refitting the
  other weights without it. Decisions that trained it are not used to fit weights afterwards. The lower half's states
  of the names are cached (`models/encoders/lower_states.py`), so that from the second training on encoding takes half
  the time. The other recipes of this role are quick: they learn only from candidates of decided mentions, and one or
  two passes are best.
* **Curator's own recipe starts from the linker's names**: an entity's vector is the mean of its names' vectors, mapped
  by a matrix that starts as the identity and is stored in the bundle. A mention's vector is the mean of its own words'
  states in context. Untrained, these rank the gold entity first for 45 % of BC5CDR's validation mentions, against 16 %
  with entities written out and whole contexts pooled. No entity is encoded again. The proxy loss places its zero midway
  between right and wrong scores before training: with the paper's zero, 200 decisions only taught it to move away from
  all entities.
* **Quick variants of the papers' retrievers and re-rankers learn from the context**: the mention in 48 tokens against
  title and definition, the upper half of both towers, batches of one domain, and up to half of the mentions those whose
  words are no name of their entity. Such a stage decides where names do not: it is asked only there
  (`models/linker/retrieving.py`), and its weight has a part of its own for words that are no candidate's name. Texts
  that are the name of one entity and part of another's have weights of their own; they are asked about if those help.
  All types count the same, so that the largest wiki does not set the weight (`models/rankers/stage_weights.py`).
* **A quick recipe is tuned and evaluated on at most 2,000 held-out mentions**; all other recipes on all of them. With
  fewer than 500 it is trained twice more, without half of the documents each time, to be judged on these (`turns.py`).
* **The check for suspicious gold leaves out trained stages** (`suspicious.py`), since they were trained on that gold.
  The memory leaves out the document, and combiner and NIL are fitted on the other folds. NIL decisions are listed only
  if there are enough to fit NIL on.
"""
