"""Incident reports of a fictional safety board, generated from a seed, with the themes of each passage."""
