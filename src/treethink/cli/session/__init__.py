"""What `learn` and `plan` share: a live display of learning, the final report, and Ctrl-C."""
