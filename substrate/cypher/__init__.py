"""All Cypher, as named constants with a sentence each."""
