"""Names and texts brought into one form: spelling, abbreviations, formulas, words that are said in other ways."""
