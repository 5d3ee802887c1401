"""Roles, what each may do, and the settings of the login."""
