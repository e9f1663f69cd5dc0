"""A stream asked again as it was, and compared with what was answered then."""
