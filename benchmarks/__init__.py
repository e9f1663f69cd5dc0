"""Benchmarks that anyone can run: recall, latency, memory, durability and others."""
