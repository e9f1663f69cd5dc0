"""What a citizen is and feels: state, energy, dissonance, identity."""
