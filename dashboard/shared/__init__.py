"""Parts that several pages use: chat view, decisions, tables, jobs, identity, state and queries."""
