"""The wording of the workplace's pages, one module a kind."""
