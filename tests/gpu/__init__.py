"""One command for a machine with a GPU and no network: `make gpu`, or `python -m tests.gpu`.

That machine needs Python 3.12, torch, transformers and scikit-learn. Everything else (corpora, knowledge base, encoder,
wheels) is packed beforehand, on a machine with a network, into pieces that are carried over one by one:

    python -m tests.gpu pack --out gpu-pieces                  # here
    python -m tests.gpu join --pieces gpu-pieces               # there, once for each load of pieces
    python -m tests.gpu --minutes 40                           # there; again to do what is left
    python -m tests.gpu --small --out /tmp/gpu-small           # anywhere: all of it on invented material

Imports only `models`, `training`, `resources` and what of `tests.benchmarks` needs no more than these.
"""
