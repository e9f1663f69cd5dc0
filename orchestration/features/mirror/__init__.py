"""The mirror: a memory as Markdown files that a person can read and edit."""
