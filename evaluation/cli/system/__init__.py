"""Commands about the installation: serving, settings, backups and checks."""
