"""Tags for memories that their writer left without, made by the upkeep."""
