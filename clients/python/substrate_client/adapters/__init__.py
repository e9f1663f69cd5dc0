"""Substrate as the memory of agent frameworks: a file for each, on the client. Each needs an extra of its own."""
