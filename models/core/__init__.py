"""The base of the other rooms: types, errors, files, the knowledge base in memory and on disk, the device.

* **Large knowledge bases stay on disk.** From 256 MB a bundle's knowledge base stays in its file (`stored_kb.py`): 3.4
  million entities in memory would take 3 GB.
"""
