"""How agents hold their character: adherence, consistency, fluency, voice distinctness, and the ideas they have."""
