"""From an HTTP request to a command or a scope, and from its outcome to an answer."""
