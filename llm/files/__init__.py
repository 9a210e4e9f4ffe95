"""Jobs as files: descriptions, bundles, exports, results from elsewhere."""
