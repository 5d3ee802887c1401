"""Links to the rating desk, and tables of ratings that several pages show."""
