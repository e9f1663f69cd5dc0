"""HTTP below the routes: connections, disconnects, messages, and rules for every request and response."""
