"""Protection of judges against text that is addressed to them."""
