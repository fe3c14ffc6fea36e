"""Makes questions on real texts by rules, from names, numbers, dates, versions and headings."""
