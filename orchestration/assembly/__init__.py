"""The stream put together: levels, tiers, summary, budget. Pure."""
