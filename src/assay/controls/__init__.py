"""Makes controls from stored answers: systems that must not pass a gate, and one that must pass."""
