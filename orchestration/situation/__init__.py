"""The situation of a citizen: what an agent of a cycle begins with (002, prepare)."""
