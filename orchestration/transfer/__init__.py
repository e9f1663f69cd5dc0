"""Export, import and backup of whole graphs."""
