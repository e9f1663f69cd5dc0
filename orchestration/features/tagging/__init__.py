"""Tags that the upkeep makes for memories without any."""
