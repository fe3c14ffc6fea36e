"""The review desk: a local web page on which people score, one thing a screen."""
