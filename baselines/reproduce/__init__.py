"""What reproduces a claim: growth of regret, who wins where, published curves, speed, and tuned parameters."""
