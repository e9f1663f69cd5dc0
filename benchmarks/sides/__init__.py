"""Two checkouts of Substrate, measured side by side: each runs its own code in processes of its own."""
