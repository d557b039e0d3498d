"""Contracts of worlds and learners, as checks that you can run on your own.

    world -> check_world, learner -> check_learner -> nothing, or a CheckFailed that says what broke

Each check is a function, listed by name in `WORLD_CHECKS` and `LEARNER_CHECKS`, so that tests can
be parametrised with them:

    @pytest.mark.parametrize("check", WORLD_CHECKS.values(), ids=WORLD_CHECKS)
    def test_my_world_keeps_what_every_world_promises(check):
        check(MyWorld())

`check_adapter` is for environments that were adapted: it plays, and lists what a learner would
stumble over, such as objects that change their ids and variables that are not in the state.

They work with `python -O` as well. One of them starts another Python process, so a script that
runs them must keep its own code under ``if __name__ == "__main__":``.
"""

from treethink.checks.adapters import AdapterReport, Finding, check_adapter
from treethink.checks.learners import LEARNER_CHECKS, check_learner
from treethink.checks.worlds import WORLD_CHECKS, check_world
from treethink.errors import CheckFailed

__all__ = [
    "check_world",
    "WORLD_CHECKS",
    "check_learner",
    "LEARNER_CHECKS",
    "check_adapter",
    "AdapterReport",
    "Finding",
    "CheckFailed",
]
