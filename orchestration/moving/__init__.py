"""Export and import: whole graphs as lines of JSON, with both time axes."""
