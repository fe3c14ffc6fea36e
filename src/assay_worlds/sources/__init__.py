"""Real texts as an organisation has them on disk: handbooks, mail, release notes, reports."""
