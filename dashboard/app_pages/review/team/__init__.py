"""The view for leads: who rates what, how far everybody is, and what is disputed."""
