"""What a citizen says of itself, what it believed, and what changed between two moments."""
