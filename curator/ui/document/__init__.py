"""The text of a document: laid out, painted, with caret, selection and the handles of its mentions, and read aloud by
screen readers. It is told what to show; it decides nothing."""
