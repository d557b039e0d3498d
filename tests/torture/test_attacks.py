"""Every attack of `make torture`, tried once."""

import pytest

import torture


@pytest.mark.parametrize("attack", torture.all_attacks(), ids=lambda attack: attack.name)
def test_one_try_of_each_attack_finds_the_promise_kept(attack):
    assert torture.attempt(attack, seed=1, number=0) is None
