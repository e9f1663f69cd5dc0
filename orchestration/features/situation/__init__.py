"""Where a citizen stands as it begins a cycle: what to answer to, what changed, what it holds in mind."""
