"""The open store of a process, its background work, its backups and its recovery."""
