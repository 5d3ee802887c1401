"""Runtime corrections: a gate before a message is sent, interventions before agents act, and repetition suppression."""
