"""Graph memories: documents become typed nodes and edges, walked from the nodes that match a query.

pack_rules, rule_graph   the rules of a pack as data, and the roles and links that they draw
packs                    the packs, and the graph of a corpus
graph, spread            the graph as arrays; spreading activation and PageRank over it
relevance                how well each node matches a query, by words and by vectors
strategies               the ways to answer from a graph: scores of nodes, and paths
memories, modes          built memories and their sessions, and the systems that a study names
reader                   any system, with a language model that answers from its hits
"""
