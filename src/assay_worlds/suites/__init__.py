"""Query suites: corpora put together on purpose, with questions whose evidence is known to the sentence."""
