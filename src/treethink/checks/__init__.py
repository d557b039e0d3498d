"""What every world and every learner promises, as checks that yours can be put through too.

    world -> check_world, learner -> check_learner -> nothing, or a CheckFailed that says what broke

Each check is a function by itself, listed by name in `WORLD_CHECKS` and `LEARNER_CHECKS`, for
tests to cross with registries:

    @pytest.mark.parametrize("check", WORLD_CHECKS.values(), ids=WORLD_CHECKS)
    def test_my_world_keeps_what_every_world_promises(check):
        check(MyWorld())

They work with `python -O` as well. One of them starts another Python process, so a script that
runs them keeps its own work under ``if __name__ == "__main__":``.
"""

from treethink.checks.learners import LEARNER_CHECKS, check_learner
from treethink.checks.worlds import WORLD_CHECKS, check_world
from treethink.errors import CheckFailed

__all__ = ["check_world", "WORLD_CHECKS", "check_learner", "LEARNER_CHECKS", "CheckFailed"]
