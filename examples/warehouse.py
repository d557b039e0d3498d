"""A warehouse: a robot drives below shelves, lifts them and carries them to a station.

The reward and the end of an episode belong to transitions, so no class `game` is needed to plan.

    python examples/warehouse.py
"""

import treethink as tt

MOVES = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


class Warehouse(tt.World):
    """A robot, walls, shelves and a station. Delivering a shelf pays 10 and ends the episode."""

    name = "warehouse"
    schema = tt.Schema(
        classes={
            "robot": ["pos", "loaded"],
            "shelf": ["pos", "carried"],
            "station": ["pos"],
            "wall": ["pos"],
        },
        attributes={"pos": tt.Position(), "loaded": tt.Flag(), "carried": tt.Flag()},
        actions=[*MOVES, "lift", "put"],
    )
    defaults = {"width": 6, "height": 5}

    def reset(self, seed):
        width, height = self.options["width"], self.options["height"]
        cells = [(x, y) for x in range(width) for y in range(height)]
        border = [(x, y) for x, y in cells if x in (0, width - 1) or y in (0, height - 1)]
        inside = [cell for cell in cells if cell not in border]
        order = self.generator(seed).permutation(len(inside))
        robot, station, *shelves = (inside[i] for i in order[:4])
        return tt.State(
            self.schema,
            [
                tt.Object(0, "robot", pos=robot, loaded=False),
                tt.Object(1, "station", pos=station),
                *(tt.Object(2 + i, "shelf", pos=at, carried=False) for i, at in enumerate(shelves)),
                *(tt.Object(100 + i, "wall", pos=at) for i, at in enumerate(border)),
            ],
        )

    def dynamics(self, state, action):
        robot = state[0]
        if action in MOVES:
            (x, y), (dx, dy) = robot.pos, MOVES[action]
            target = (x + dx, y + dy)
            others = state.find("shelf", pos=target) if robot.loaded else ()
            if state.find("wall", pos=target) or others:
                return [(state, 1.0)]
            moved = [robot, *state.find("shelf", carried=True)]
            return [(state.replace_many({each.id: {"pos": target} for each in moved}), 1.0)]
        below = state.find("shelf", pos=robot.pos)
        if not below or robot.loaded == (action == "lift"):
            return [(state, 1.0)]
        carried = action == "lift"
        changes = {0: {"loaded": carried}, below[0].id: {"carried": carried}}
        return [(state.replace_many(changes), 1.0)]

    def reward(self, before, action, after):
        return 10 if self.terminated(before, action, after) else -1

    def terminated(self, before, action, after):
        return action == "put" and before[0].loaded and before[0].pos == before[1].pos


if __name__ == "__main__":
    world = Warehouse()
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, steps=15_000, seed=0))
    print(model.rules["shelf.pos.right"].to_text("english"))
    print(model.rules["transition.reward.put"].to_text("english"))
    print(model.rules["transition.terminated.put"])

    larger = Warehouse(width=9, height=7)
    print(model.check(larger))
    print(tt.Agent(model).play(larger, steps=40, level=3).actions)
    model.to_python("warehouse_rules.py")
