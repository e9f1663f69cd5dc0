"""The memory tool of Anthropic's API."""
