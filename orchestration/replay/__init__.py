"""Asks a stream again as of when it was asked, and says what has become of each memory that it showed."""
