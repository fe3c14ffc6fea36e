"""A benchmark's files in the browser."""
