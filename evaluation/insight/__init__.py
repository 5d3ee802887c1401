"""What a discussion looks like from outside: activity, memory, who addresses whom, and cost."""
