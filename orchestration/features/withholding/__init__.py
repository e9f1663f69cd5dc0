"""What is no longer shown: quarantine of a distrusted source, and policies of how long memories are kept."""
