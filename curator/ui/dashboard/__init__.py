"""Figures of the project as plots and tables, the history of steps, and lists of decisions: all, and those that the
linker finds unlikely.

* **The dashboard counts once and filters in memory**: cells by day, curator, split, outcome and rank. It reads in a
  worker thread, at the earliest 2.5 s after the last change. With 500,000 decisions and 350,000 measured operations the
  queries take 3.7 s of CPU time, during which SQLite does not hold the GIL.
* **Plots are painted by hand** (`plot_painter.py`, SVG through QtSvg): 1 MB, against 50 MB and 1.0 s for importing
  pyqtgraph and 73 MB and 1.6 s for matplotlib. They have keyboard control, a table each and the colours of the theme.
"""
