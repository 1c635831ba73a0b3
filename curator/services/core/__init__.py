"""Shared by services: the event bus, answers cached until a write, project-wide values, times, reading relations."""
