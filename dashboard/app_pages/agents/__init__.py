"""The Agents page."""
