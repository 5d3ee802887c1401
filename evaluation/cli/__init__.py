"""The command line: ``dramaturg ...``. Modules load what is slow to import only when their command runs."""
