"""Backups: their files and the snapshot of the engine."""
