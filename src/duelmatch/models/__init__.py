"""What the answers so far probably mean, for steering and for standings. No proof rests on it."""
