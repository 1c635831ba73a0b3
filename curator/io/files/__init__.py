"""What all formats stand on: streams, archives, whole files written or none, offsets found again, ids in a file's
style."""
