"""The operations that a command or a caller of the library starts. Each runs several stages in order."""
