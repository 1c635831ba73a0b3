"""The command line: the same services as the window. Nothing heavy is imported before a command needs it."""
