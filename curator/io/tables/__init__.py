"""Tables of mentions and of entities: CSV, TSV and XLSX, with columns that are recognised, chosen and remembered.

* **The choice of columns** is stored by `ColumnMemory` (`columns.py`) under the table's headings. The registry applies
  it whenever it recognises a file, so preview, import and command line agree.

The reader of knowledge bases in tables is here and not in `curator/io/kb/`: it recognises columns like the other
tables.
"""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.io.tables.columns import ColumnMemory
    from curator.io.tables.document_table import TableFormat, could_be_table, has_columns, preview
    from curator.io.tables.document_table_write import ids_cell, ids_of
    from curator.io.tables.kb_table import TABLE, is_table, preview_kb_table
    from curator.io.tables.tables import is_only_table, is_workbook

__all__ = [
    "TABLE",
    "ColumnMemory",
    "TableFormat",
    "could_be_table",
    "has_columns",
    "ids_cell",
    "ids_of",
    "is_only_table",
    "is_table",
    "is_workbook",
    "preview",
    "preview_kb_table",
]

__getattr__ = opened_late(
    __name__,
    columns="ColumnMemory",
    document_table="TableFormat could_be_table has_columns preview",
    document_table_write="ids_cell ids_of",
    kb_table="TABLE is_table preview_kb_table",
    tables="is_only_table is_workbook",
)
