"""The literature's own formats: PubTator, PubMed XML, MEDLINE, plain text."""
