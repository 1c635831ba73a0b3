"""The base of the other rooms: types, errors, files, the knowledge base in memory and on disk, the device.

* **Large knowledge bases stay on disk.** From 256 MB a bundle's knowledge base stays in its file (`stored_kb.py`): 3.4
  million entities in memory would take 3 GB.
"""

from models.core.compiling import compiled
from models.core.device import AUTO, Device, Precision, choose_device, give_back_gpu_memory, gpu_memory
from models.core.file_io import (
    atomic_path,
    fsync_file,
    fsync_folder,
    give_back,
    read_json,
    sha256_file,
    write_json,
    writing,
)
from models.core.hierarchy import Hierarchy
from models.core.kb import KB_FILE, IntArray, KnowledgeBase, Ranges, record_from_json
from models.core.queries import MentionQuery, Variant, document_queries
from models.core.stored_kb import RowSequence, open_kb, ordered

__all__ = [
    "AUTO",
    "KB_FILE",
    "Device",
    "Hierarchy",
    "IntArray",
    "KnowledgeBase",
    "MentionQuery",
    "Precision",
    "Ranges",
    "RowSequence",
    "Variant",
    "atomic_path",
    "choose_device",
    "compiled",
    "document_queries",
    "fsync_file",
    "fsync_folder",
    "give_back",
    "give_back_gpu_memory",
    "gpu_memory",
    "open_kb",
    "ordered",
    "read_json",
    "record_from_json",
    "sha256_file",
    "write_json",
    "writing",
]
