"""What a citizen has to wake for: readings of its state and graphs, and the question that follows from them."""
