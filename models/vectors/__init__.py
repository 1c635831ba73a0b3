"""FAISS: which kind of index, its files, exact search in blocks, and an index that changes while it is searched."""
