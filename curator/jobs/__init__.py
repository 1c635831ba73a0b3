"""Child processes and worker threads: the linker, index builds, training, evaluation."""

from curator.jobs.bundles import FolderBundleStore
from curator.jobs.linker_process import LinkerOptions, LinkerProcess
from curator.jobs.runner import JobRunner

__all__ = ["FolderBundleStore", "JobRunner", "LinkerOptions", "LinkerProcess"]
