"""What evaluating untrusted definitions costs, counted before anything is evaluated."""
