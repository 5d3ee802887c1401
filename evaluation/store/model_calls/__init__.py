"""Calls to models: cached judgements, generated texts, the call log and spending."""
