"""Retrieval other than by name: bi-encoder, sum of max, memory of decisions, and their fusion.

* **Fusion sums lexical, names and memory only** (`fusion.py`). Preferred names, definitions and coherence did not help
  there on the train documents of BC5CDR and NCBI Disease (-0.14 to +0.08 points of recall@1). They are features of the
  combiner, in which they do help. Coherence is the highest chance of an entity at another mention of the document with
  another wording, kept with and without the memory. Weighting conflicting decisions by context changes nothing on
  BC5CDR (0.0 points); it is kept as a safeguard of the memory.
* **Fusion weights of the untrained stages keep the program's defaults**, chosen on BC5CDR's train documents: refitting
  them on 50 validation documents made NIL worse.
* **Trained retrievers count relative to their favourite** (0 for it, less for the others), outside the divisor of the
  fused score: the order is the same, and combiner and NIL model get scores on the scale they were fitted on. With a
  stage's cosines in the mean, half of BC5CDR's linked mentions were called NIL when too few decisions were held out to
  refit NIL.
* **SOM re-ranks** (`som.py`). Up to 2,048 entities are compared exactly, token by token; in a larger knowledge base,
  the 2,048 nearest by the cosine of mean tokens. No library is used: PyLate and fast-plaid pin older
  sentence-transformers and PyTorch, colbert-ai stores pickles, LanceDB compares by cosine only.
"""
