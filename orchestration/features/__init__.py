"""One folder a feature: all that it is, except what it prints. Each can be removed with its line in the list."""
