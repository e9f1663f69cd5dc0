"""The doors: REST and the command line."""
