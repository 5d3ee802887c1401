"""Propositions: loading, checking, preconditions, and the scores that follow from answers to them."""
