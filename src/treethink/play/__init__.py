"""The game of `treethink play`: a world that a person steps with the keyboard."""
