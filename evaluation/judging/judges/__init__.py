"""The judges: live, offline, recorded and scripted, and the cache in front of them."""
