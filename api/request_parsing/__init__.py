"""Turn an HTTP request into a command or a scope, and its outcome into a response."""
