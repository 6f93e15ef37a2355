"""A run on the model hub: what is sent, and sending it."""
