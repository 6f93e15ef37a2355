"""The attacks of `campaign.py`, one file a kind, and what they share."""
