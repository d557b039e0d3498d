"""The Neural Physics Engine, in PyTorch."""

from treethink.baselines.npe.npe import NPE

__all__ = ["NPE"]
