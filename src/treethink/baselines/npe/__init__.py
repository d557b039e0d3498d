"""The Neural Physics Engine, in PyTorch: encoding, network, replay buffer, learner."""

from treethink.baselines.npe.learner import NPE

__all__ = ["NPE"]
