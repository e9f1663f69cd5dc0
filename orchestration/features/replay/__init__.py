"""Notes of streams, asked again as they were and compared with now."""
