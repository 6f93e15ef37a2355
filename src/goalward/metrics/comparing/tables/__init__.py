"""Tables of outcomes: how people write down what happened, and what they mean."""
