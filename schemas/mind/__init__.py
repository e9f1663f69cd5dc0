"""The values of the mind of a citizen, a file each."""
