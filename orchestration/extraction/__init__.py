"""What a language model is asked to read out of a text, and what of its answer counts."""
