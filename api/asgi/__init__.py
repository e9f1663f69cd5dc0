"""Below the routes: connections, messages and the rules of HTTP for every request and response."""
