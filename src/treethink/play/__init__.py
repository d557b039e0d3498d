"""`treethink play`: walk around in a world, in a terminal."""
