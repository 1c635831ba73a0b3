"""What everything here stands on: types, errors, files, the knowledge base in memory and on disk, the device."""
