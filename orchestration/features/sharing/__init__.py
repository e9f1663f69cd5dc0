"""A memory goes up a level to others, who may contest it."""
