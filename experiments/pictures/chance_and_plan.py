"""Two pictures: a prediction in a random world, and a plan."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.pictures import doors_run
from experiments.pictures.canvas import GREY, YES, box, card, lines, text
from experiments.pictures.level import Level, below

from treethink import planning
from treethink.planning import Agent, Episode, Plan, score_bounds
from treethink.state import State
from treethink.worlds import World, make

BLUE = "#35b0ff"
WATCHED = 20_000  # transitions of fish: probabilities need more than rules
STEPS, LEVEL = 18, 4  # of the plan


def chance() -> str:
    """Draw where a fish may be next: as learned, and in truth."""
    world = make("fish", width=6, height=6)
    state = world.reset(3)
    (fish,) = state.of_class("fish")
    prediction = doors_run.trained(world, WATCHED).predict(state, "step")
    support = prediction.support(fish.id, "pos")
    panels = {
        f"learned, from {support:,} like this one": prediction.outcomes(fish.id, "pos"),
        "the truth": {after[fish.id].pos: p for after, p in world.distribution(state, "step")},
    }
    parts: list[str] = []
    for number, (title, shares) in enumerate(panels.items()):
        level = Level(world, state, 96 + 300 * number, 24, 38)
        parts += [level.draw(), below(level, title)]
        parts += [_share(level, cell, share) for cell, share in sorted(shares.items())]
    return card("Where a fish may be next, as learned and in truth", 290, parts)


def _share(level: Level, cell: tuple[int, int], share: float) -> str:
    x, y = level.middle(cell)
    half = level.cell / 2 - 3
    back = (
        f'<rect x="{x - half:.1f}" y="{y - half:.1f}" width="{2 * half:g}" height="{2 * half:g}" '
        f'rx="4" fill="{BLUE}" opacity="{min(1.0, share):.2f}"/>'
    )
    return back + text(
        x, y + level.cell / 2 - 5, f"{share:.0%}", "#ffffff", size=11, anchor="middle", bold=True
    )


def plan() -> str:
    """Draw the visits of the first search, and the whole path of the episode."""
    model = doors_run.trained(make("coins"), 5_000)
    world = make("coins", width=10, height=10, coins=8)
    start = world.reset(LEVEL)
    episode = Agent(model).play(world, steps=STEPS, level=LEVEL)
    level = Level(world, start, 24, 24, 26)
    parts = [
        *(level.draw(), level.walk([_place(state) for state in episode.states], BLUE)),
        *_visits(330, 44, planning.plan(model, start, simulations=100)),
        *lines(330, 222, _summary(world, episode)),
        text(330, 266, "10 x 10; the model has only seen 8 x 8", GREY),
    ]
    return card("A plan in coins: the first step, and the way that was walked", 340, parts)


def _visits(x: float, y: float, first: Plan) -> Iterator[str]:
    """Draw how often each action was tried."""
    yield text(x, y, f"The first step: {first.simulations} simulations", bold=True)
    for number, (action, visits) in enumerate(first.visits.items()):
        yield from _bar(x, y + 14 + 26 * number, action, visits, action == first.action)


def _summary(world: World, episode: Episode) -> list[str]:
    """Return the result of the episode."""
    coins = [each.used for each in episode.states[-1].of_class("coin")]
    bounds = score_bounds(world, episode.states[0], steps=STEPS)
    return [
        f"{len(episode.actions)} steps, {sum(coins)} of {len(coins)} coins",
        f"score {episode.score}; the best possible is {bounds.optimal}",
    ]


def _place(state: State) -> tuple[int, int]:
    (player,) = state.of_class("player")
    x, y = player.pos
    return x, y


def _bar(x: float, y: float, action: str, visits: int, chosen: bool) -> Iterator[str]:
    colour = YES if chosen else GREY
    yield text(x, y + 14, action, colour, bold=chosen)
    wide = max(2.0 * visits, 1)
    yield box(x + 50, y + 2, wide, 16, colour, colour, corner=min(3, wide / 4))
    yield text(x + 58 + 2.0 * visits, y + 14, f"{visits}", colour)
