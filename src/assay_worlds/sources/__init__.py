"""Readers of real texts on disk: handbooks, mail, release notes and reports."""
