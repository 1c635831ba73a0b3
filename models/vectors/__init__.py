"""FAISS: the choice of an index, its files, exact search in blocks, and an index that can change while it is searched.

* **`faiss-cpu` is a plain dependency**, and the `gpu` extra adds `faiss-gpu`. Both put the same module in place, so the
  README says to uninstall the former first.
* **An exact index of 20,000 vectors or more is read from its file, not mapped** (`coarse.py`): 8-bit codes, made when
  they are first needed, leave few vectors to compare. 190,256 names take 54 MiB instead of 225, with the same answers.
* **PyTorch searches on a GPU if FAISS was built without GPU support**: `faiss-gpu` needs libraries of CUDA 12, while
  current builds of PyTorch bring those of CUDA 13.
"""
