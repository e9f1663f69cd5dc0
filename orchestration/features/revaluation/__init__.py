"""Revaluation: energy and importance of memories are judged again, in the light of what came after."""
