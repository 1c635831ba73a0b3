"""What every view is made with: colours and icons, forms and messages, lists and tables, work beside the window's
thread, and the watch over what was on the screen when a key was pressed. Knows no project and no document."""
