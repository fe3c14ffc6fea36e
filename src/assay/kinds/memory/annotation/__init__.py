"""Private golden sets: from a folder of numbered documents to case files that two people agreed on."""
