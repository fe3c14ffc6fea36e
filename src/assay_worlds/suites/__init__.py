"""Query suites: corpora with questions whose evidence is known down to the sentence."""
