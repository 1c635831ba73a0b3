"""Tables of mentions and of entities: CSV, TSV and XLSX, with columns that are recognised, chosen and remembered.

* **The choice of columns** is stored by `ColumnMemory` (`columns.py`) under the table's headings. The registry applies
  it whenever it recognises a file, so preview, import and command line agree.

The reader of knowledge bases in tables is here and not in `curator/io/kb/`: it recognises columns like the other
tables.
"""
