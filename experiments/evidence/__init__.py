"""What the criteria and the memory do: the measurements behind docs/evidence.md."""
