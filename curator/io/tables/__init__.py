"""Tables of mentions and of entities: CSV, TSV and XLSX, with columns that are recognised, chosen and remembered."""
