"""The network of players who address each other: graph, layout and drawing."""
