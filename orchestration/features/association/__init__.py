"""One memory brings others to mind, which bring others: asking along their likeness and links."""
