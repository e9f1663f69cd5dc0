"""The default model, all-MiniLM-L6-v2: its official files, its graph, and the one file that is made of them."""
