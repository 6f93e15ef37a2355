"""Work that is cut into pieces, and who does them: processes here, or the machines of a cluster."""
