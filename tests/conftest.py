"""Tests run side by side, one on each core: a network that takes all of them would wait."""

import os
import signal

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anybody imports PyTorch
# Some shells have Ctrl-C ignored by what they start in the background; here it is pressed.
signal.signal(signal.SIGINT, signal.default_int_handler)
