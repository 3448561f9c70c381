"""The algorithms: one file each, reading like its listing in the paper, and what they share."""
