"""A way of asking: from words to memories that share tags and links."""
