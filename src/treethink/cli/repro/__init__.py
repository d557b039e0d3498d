"""The commands of experiments: `run`, `reproduce`, `report` and `bench`."""
