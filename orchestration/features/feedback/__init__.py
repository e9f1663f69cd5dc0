"""What a citizen says of the memories that it was shown, and what the ranking learns from it."""
