"""Webhooks: the changes of a graph are sent to an address."""
