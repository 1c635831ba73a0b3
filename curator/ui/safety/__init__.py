"""Keeping a project safe: backups, check, and recovery of damaged projects.

* **A damaged project has no services**: `Rescue` works with the project's folder alone, through `curator.bootstrap`.
* **Long operations run in a thread**; restoring closes the project first and opens it again afterwards.
"""
