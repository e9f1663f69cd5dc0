"""How candidates are scored: channels, spreading, the consciousness score. Pure."""
