"""Memories leave a graph and come back: export, import, backup."""
