"""BioC in XML and JSON, read, written, and written into the file that was read."""
