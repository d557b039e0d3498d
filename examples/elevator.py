"""A lift that goes where it is called: two attributes that measure the same thing.

`floor` and `dest` are both floors. Rules compare attributes of different names only if the schema
says that they are alike. Without `like`, learning does not succeed, and its ending says so.

    python examples/elevator.py
"""

import treethink as tt

FLOORS = 6


class Elevator(tt.World):
    """A lift with doors. `go` moves it one floor towards its destination, and opens at it."""

    name = "elevator"
    schema = tt.Schema(
        classes={"lift": ["floor", "dest", "door"]},
        attributes={
            "floor": tt.Number(),
            "dest": tt.Number(like="floor"),
            "door": tt.Category(["closed", "open"]),
        },
        actions=["go", *(f"call-{floor}" for floor in range(FLOORS))],
    )

    def reset(self, seed):
        floor, dest = self.generator(seed).integers(FLOORS, size=2).tolist()
        return tt.State(self.schema, [tt.Object(0, "lift", floor=floor, dest=dest, door="closed")])

    def dynamics(self, state, action):
        lift = state[0]
        if action != "go":
            return [(state.replace(0, dest=int(action.removeprefix("call-")), door="closed"), 1.0)]
        if lift.floor == lift.dest:
            return [(state.replace(0, door="open"), 1.0)]
        step = 1 if lift.dest > lift.floor else -1
        return [(state.replace(0, floor=lift.floor + step), 1.0)]

    def reward(self, before, action, after):
        return 1 if before[0].door == "closed" and after[0].door == "open" else 0


if __name__ == "__main__":
    world = Elevator()
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, steps=5_000, seed=0))
    print(model.rules["lift.door.go"].to_text("english"))
    print(model.check(world))

    plan = tt.plan(model, world.reset(seed=3))
    print(world.reset(seed=3)[0], "->", plan.action)
    print(tt.Agent(model).play(world, steps=10, level=3).actions)
    model.to_python("elevator_rules.py")
