"""What can be shown and handed on: statistics, plots, audit, releases, exports, and what helps when something is
wrong."""
