"""One plugin of each sort, using nothing but what Assay documents."""
