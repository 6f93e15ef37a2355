"""Videos -> pictures on their way to an encoder: threads, and processes that decode for them."""
