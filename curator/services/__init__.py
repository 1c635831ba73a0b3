"""Use cases without Qt; they see storage, files and child processes only through `ports`."""
