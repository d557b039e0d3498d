"""Tests run side by side, one on each core: a network that takes all of them would wait."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anybody imports PyTorch
