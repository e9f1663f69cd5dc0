"""Programs in which agents run: what is written into their files, and the hook that they call."""
