"""Options, exit codes, terminal output and confirmation that several commands share."""
