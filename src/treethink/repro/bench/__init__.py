"""`treethink bench`: seeded workloads, timed side by side."""
