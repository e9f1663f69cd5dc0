"""Wave retrieval: memories that resonate with a signal (000, 002)."""
