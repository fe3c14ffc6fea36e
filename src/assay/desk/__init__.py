"""The review desk: a local web page on which people judge, with one task on each screen."""
