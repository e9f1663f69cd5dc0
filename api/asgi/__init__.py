"""What HTTP asks of every request and answer, below the routes."""
