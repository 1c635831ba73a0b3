"""The whole linker: its stages in order, its bundle, and changes since the bundle was built.

* **How a mention is linked, in order:** wordings, retrieval by every stage and the memory, exact scores of every
  candidate by every stage, coherence, fusion (`models/retrievers/fusion.py`), ranker, combiner, NIL (`answering.py`).
  Fusion is a weighted sum with the program's weights. It determines the retrieved candidates and the mentions that a
  ranker gets.
* **Words of the context by occlusion** (`occlusion.py`). Each word of the sentence is replaced by white space of the
  same length, so that offsets stay the same, and the document is linked as usual: there is no second scoring code that
  could differ. The result is the change of ln(p1 / p2), in which the other candidates cancel out. It takes a median of
  0.3 s.
* **A bundle contains its knowledge base** (`kb.jsonl`), so the linker process and the jobs never open the project. The
  default encoder is referenced by its fingerprint; any other encoder is copied into the bundle.
* **Only checked bundles are used.** The manifest is sealed by its own hash, and `load_checked` compares the hashes of
  all files while the linker is loaded: 0.4 s for 494 MB, in parallel with 1.9 s of loading. Damaged indexes are rebuilt
  (`index_repair.py`), and so are the indexes of a linker made on another computer (`made_here.py`).
"""
