"""Roles, their permissions, and the settings of the login."""
