"""Methods as data: their stages, what their outputs mean, and the numbers they are trained by."""
