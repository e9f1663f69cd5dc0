"""Couche 2, decides: pure calculations between two I/O edges."""
