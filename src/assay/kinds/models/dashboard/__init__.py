"""The dashboard, which shows a benchmark's files in the browser."""
