"""The open store of a process, what is done with it in the background, and its backups."""
