"""What a user asked, read: words, times, names that each graph knows."""
