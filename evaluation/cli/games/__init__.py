"""Commands about games: scoring, showing, searching, moving and exporting them."""
