"""What curators do to mentions: decide, undo, edit, comment, and decide many at once, each as one step of the
history."""
