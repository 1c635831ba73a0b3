"""Wikis and the corpora made of them: MediaWiki dumps, Zeshel, BLINK."""
