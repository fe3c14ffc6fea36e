"""A fictional safety board's incident reports, generated from a seed, with what each passage is about."""
