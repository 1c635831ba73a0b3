"""Formats of literature databases: PubTator, PubMed XML, MEDLINE, plain text.

* **PubTator's text** is stored as title, line feed, abstract: the separator counts as one character, regardless of
  which it is.
"""
