"""Values: what goes in, what comes out, what can go wrong. Imports nothing of ours."""
