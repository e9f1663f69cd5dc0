"""The open store of a process, its background work, and its backups."""
