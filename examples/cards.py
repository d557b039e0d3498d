"""A card game, the higher card wins: an order of sizes, chance, and a reward for planning.

A rule can ask which of two ranks is higher, so who gets the point is learned. The next card is
chance: `model.doubts()` says that nothing is missing there.

    python examples/cards.py
"""

import treethink as tt

RANKS = 13


class Cards(tt.World):
    """Two players. `deal` gives each a card; `show` gives a point to the higher card."""

    name = "cards"
    attributes = {
        # A new card has nothing to do with the old one: its value is predicted, not its change.
        "rank": tt.Number(outcomes="value"),
        "points": tt.Score(),
    }
    schema = tt.Schema({"player": list(attributes)}, attributes, actions=["deal", "show"])

    def reset(self, seed):
        ranks = self.generator(seed).integers(RANKS, size=2).tolist()
        players = [tt.Object(i, "player", rank=rank, points=0) for i, rank in enumerate(ranks)]
        return tt.State(self.schema, players)

    def dynamics(self, state, action):
        if action == "deal":
            hands = [(first, second) for first in range(RANKS) for second in range(RANKS)]
            return [
                (state.replace_many({0: {"rank": first}, 1: {"rank": second}}), 1 / len(hands))
                for first, second in hands
            ]
        if state[0].rank == state[1].rank:
            return [(state, 1.0)]
        winner = max(state[0], state[1], key=lambda player: player.rank)
        return [(state.replace(winner.id, points=winner.points + 1), 1.0)]


def my_lead(before, after):
    """Return the reward of player 0."""
    return (after[0].points - after[1].points) - (before[0].points - before[1].points)


if __name__ == "__main__":
    world = Cards()
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, steps=1_000, seed=0))
    print(model.rules["player.points.show"])
    for doubt in model.doubts():
        print(doubt)

    for seed in range(3):  # show a higher card, and ask for a better one otherwise
        state = world.reset(seed)
        plan = tt.plan(model, state, reward=my_lead, horizon=2)
        print(state[0].rank, "against", state[1].rank, "->", plan.action)
    model.to_python("cards_rules.py")
