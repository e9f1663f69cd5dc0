"""The connection to the engine: the only place that knows its client library."""
