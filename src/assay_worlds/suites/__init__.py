"""Query suites: corpora with questions. The sentences that are the evidence of each question are known."""
