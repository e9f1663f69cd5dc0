"""Upkeep, the care of graphs: findings of sweeps, runs of jobs, and what else is asked of it, a file each."""
