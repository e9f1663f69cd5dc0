"""Who a citizen is, by what it remembers; how that changed, and what it learned."""
