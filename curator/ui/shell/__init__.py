"""The program around the working place: windows, menus, commands by name, settings, shortcuts, help and the demo."""
