"""The memory tool of Anthropic's API: files that a model makes, as memories with a path."""
