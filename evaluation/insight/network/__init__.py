"""Who addresses whom: the graph, its layout and its drawing."""
