"""Questions on real texts, found by rules: names, numbers, dates, versions, headings."""
