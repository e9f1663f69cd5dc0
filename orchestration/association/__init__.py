"""Association: from the words of a question to memories that share tags and links (001, Tag-Walker)."""
