"""The world `lights`: the remote toggles the lights of its channel; channels are unbounded."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError, StateError
from treethink.state import Object, State
from treethink.stream.random_play import transitions
from treethink.worlds import make

FARTHEST = 2**63 - 1
channels = st.integers(-1, 2) | st.sampled_from([FARTHEST - 1, -FARTHEST])


@st.composite
def states(draw: st.DrawFn) -> State:
    """Also several lights on one channel, which no level has."""
    lights = draw(st.lists(st.tuples(channels, st.integers(0, 1)), max_size=6))
    objects = [
        Object(50, "remote", channel=draw(channels)),
        *(Object(i, "light", channel=channel, on=on) for i, (channel, on) in enumerate(lights)),
        Object(60, "game", score=draw(st.integers(-99, 99))),
    ]
    return State(make("lights").schema, objects)


def slowly(state: State, action: str) -> State:
    """What follows, light by light."""
    tuned, points, after = state[50].channel, 0, state
    if action == "up":
        after, points = after.replace(50, channel=tuned + 1), -1
    elif action == "down":
        after, points = after.replace(50, channel=tuned - 1), -1
    elif action == "toggle":
        for light in [each for each in state if each.class_name == "light"]:
            if light.channel == tuned and light.on == 1:
                after, points = after.replace(light.id, on=0), points + 10
            elif light.channel == tuned:
                after, points = after.replace(light.id, on=1), points - 10
    return after.replace(60, score=state[60].score + points)


@given(states(), st.sampled_from(["stay", "up", "down", "toggle"]))
def test_what_follows_is_what_going_light_by_light_finds(state: State, action: str) -> None:
    assert make("lights").distribution(state, action) == [(slowly(state, action), 1.0)]


def test_toggle_flips_every_light_on_the_channel_and_pays_for_each() -> None:
    world = make("lights")
    objects = [
        Object(0, "remote", channel=3),
        Object(1, "light", channel=3, on=1),
        Object(2, "light", channel=3, on=1),
        Object(3, "light", channel=3, on=0),
        Object(4, "light", channel=4, on=1),
        Object(5, "game", score=0),
    ]
    ((after, _),) = world.distribution(State(world.schema, objects), "toggle")
    assert [light.on for light in after.of_class("light")] == [0, 0, 1, 1]
    assert after[5].score == 10 + 10 - 10


@pytest.mark.parametrize(("action", "channel"), [("up", FARTHEST), ("down", -FARTHEST - 1)])
def test_a_channel_beyond_64_bits_is_an_error_and_not_a_wrap(action: str, channel: int) -> None:
    world = make("lights-scoreless")
    state = State(world.schema, [Object(0, "remote", channel=channel)])
    with pytest.raises(StateError, match="'channel' must fit in a signed 64-bit integer"):
        world.distribution(state, action)


def test_levels_have_two_to_ten_lights_each_number_about_equally_often() -> None:
    world = make("lights")
    counts = Counter(len(world.reset(seed).of_class("light")) for seed in range(1_800))
    assert set(counts) == set(range(2, 11))
    assert all(140 < count < 260 for count in counts.values())


@given(st.integers(0, 12), st.integers(0, 10**6))
def test_a_level_has_one_light_a_channel_and_the_remote_on_one_of_them(
    lights: int, seed: int
) -> None:
    world = make("lights", lights=lights)
    state = world.reset(seed)
    on_channels = [light.channel for light in state.of_class("light")]
    assert on_channels == list(range(len(on_channels)))
    assert len(on_channels) == lights if lights else 2 <= len(on_channels) <= 10
    assert state.of_class("remote")[0].channel in on_channels
    most = world.most_objects()
    assert all(len(state.of_class(name)) <= most[name] for name in world.schema.classes)
    assert most == {"remote": 1, "light": lights or 10, "game": 1}


def test_lights_and_the_remote_start_in_every_way() -> None:
    world = make("lights", lights=2)
    starts = {
        (state.of_class("remote")[0].channel, *(light.on for light in state.of_class("light")))
        for state in map(world.reset, range(200))
    }
    assert len(starts) == 2 * 2 * 2


def test_without_its_score_it_is_the_same_world() -> None:
    bare = transitions(make("lights-scoreless"), steps=200, seed=4)
    for one, other in zip(transitions(make("lights"), steps=200, seed=4), bare, strict=True):
        assert one[1] == other[1]
        assert [each for each in one[2] if each.class_name != "game"] == list(other[2])
    assert "game" not in make("lights-scoreless").most_objects()


def test_the_remote_is_drawn_below_the_light_that_it_is_tuned_to() -> None:
    world = make("lights")
    assert world.place(Object(0, "light", channel=4, on=1)) == (4, 0)
    assert world.place(Object(0, "remote", channel=-2)) == (-2, 1)
    assert world.place(Object(0, "game", score=3)) is None


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"lights": 1_001}, "world 'lights': lights must be from 0 to 1,000, got 1001"),
        ({"lights": -1}, "lights must be at least 0"),
        ({"scored": 2}, "scored must be from 0 to 1, got 2"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, int], complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint):
        make("lights", **options)
