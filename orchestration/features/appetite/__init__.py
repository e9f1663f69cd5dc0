"""Appetite: which of the four ways of waking a citizen needs most, by its drives."""
