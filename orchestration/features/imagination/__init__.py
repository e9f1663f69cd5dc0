"""What came of an action before; predictions that are kept, and how right they were."""
