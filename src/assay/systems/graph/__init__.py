"""Graph memories: documents as typed nodes and edges, walked from what matches a query.

packs, rule_file  what a domain pack is, and packs that are data (rules/*.yaml)
drawing, names    the links that a pack's rules find between passages
graph             nodes and edges as arrays
relevance         how well each node matches a query, by words and by vectors
spread, pagerank  energy over the graph, edge by edge or to its limit
state             what a session remembers from one query to the next
answers           from scores and walks to hits and a trace
modes             the systems a study names
"""
