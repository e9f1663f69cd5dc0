"""How strongly each memory found comes to mind: relevance, spreading, the consciousness-aware score, tiers."""
