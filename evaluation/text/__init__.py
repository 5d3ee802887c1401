"""Text of discussions: tokens, names, stems and language, and wording for display."""
