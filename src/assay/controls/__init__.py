"""Systems that must not pass a gate, and one that must, made from stored answers."""
