"""A life by weeks: how much was lived, with which energy and feelings."""
