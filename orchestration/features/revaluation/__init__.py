"""Asks a citizen again how much memories of low importance matter."""
