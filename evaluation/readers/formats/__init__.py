"""Readers, one module for each file format."""
