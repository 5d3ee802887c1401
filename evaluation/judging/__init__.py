"""Judges: what they are asked, what they answer, and how their answers are got, kept and paid for."""
