"""Room 5: trained networks become numbers per frame."""
