"""What a command or a caller of the library asks for as a whole. Each puts stages together, in order."""
