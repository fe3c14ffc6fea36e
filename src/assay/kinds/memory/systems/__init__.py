"""Graph memories: documents as typed nodes and edges, walked from what matches a query.

packs, rule_file    what a domain pack is, and packs that are data (rules/*.yaml)
drawing             the links that a pack's rules find: by words shared (overlap), against each other
                    (conflicts), by name across documents (names)
graph, building     nodes and edges as arrays, made of a corpus
relevance           how well each node matches a query, by words and by vectors
spread, pagerank    energy over the graph, edge by edge or to its limit
state               what a session remembers from one query to the next
outcome, tracing    what a mode makes of a query: scores and paths, and the trace that tells them
memories, modes     built memories and their sessions, and the systems a study names
"""
