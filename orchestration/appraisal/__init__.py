"""What a text says of feeling, state and goal, and its key phrases. Pure."""
