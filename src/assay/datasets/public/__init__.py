"""Public benchmarks in the form in which their authors release them. Each has its own adapter."""
