"""Public benchmarks in the form their authors release them, each read by an adapter of its own."""
