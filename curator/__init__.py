"""Curator: review, decide and retrain entity links in biomedical and Wikia documents."""

__version__ = "0.1.0"
