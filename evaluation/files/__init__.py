"""Files that people write or that come with the code: strict JSON, YAML with line numbers, bundled data."""
