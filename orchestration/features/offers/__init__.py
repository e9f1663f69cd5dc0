"""What could be resolved or unblocked, offered until a citizen declines it."""
