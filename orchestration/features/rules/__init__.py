"""Rules among the memories of a citizen, and whether an action is against one."""
