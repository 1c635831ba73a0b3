"""Actions on mentions: decide, undo, edit, comment, and decide many at once, each as one step of the history.

`CurationService` decides, adds and deletes mentions, sets document states, undoes and redoes; each action returns a
`Change`. `PropagationService` finds the other mentions of a string in their contexts, grouped and with outliers
unticked, and decides the ticked ones as one step. `BulkService` determines which suggestions may be accepted unseen,
which sample to check first, and the bound. Notes are flags and comments, attributes are named values of mentions, both
undoable; relations are read from the documents' records, and curators' additions and deletions are stored; guidelines
belong to the project; efforts are seconds and keys of decisions. `StepService` lists the history of steps, and undoes
or redoes up to a step.
"""
