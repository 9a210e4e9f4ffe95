"""Jobs that are asked by a server's Batch API."""
