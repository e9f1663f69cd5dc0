"""The page at `/` in headless Chromium, through real clicks against the real service."""
