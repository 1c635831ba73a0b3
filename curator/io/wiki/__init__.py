"""Wikis and the corpora made from them: MediaWiki dumps, Zeshel, BLINK."""
