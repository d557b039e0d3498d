"""A vending machine: names, yes and no, and a value that follows from others.

A drink is sold if the credit is enough. Rules do not compare sizes, so the schema has a derived
attribute that does: `affordable` is computed from the state, used by rules, and never predicted.

    python examples/vending.py
"""

import treethink as tt

DRINKS = ["cola", "water", "juice"]


def affordable(state, slot):
    return slot.price <= state[0].credit


class Vending(tt.World):
    """Coins add credit; a button sells its drink if the credit is enough and there is stock."""

    name = "vending"
    schema = tt.Schema(
        classes={"machine": ["credit"], "slot": ["drink", "price", "stock", "affordable"]},
        attributes={
            "credit": tt.Number(),
            "drink": tt.Category(DRINKS),
            "price": tt.Number(),
            "stock": tt.Number(),
            "affordable": tt.Derived(affordable),
        },
        actions=["coin", "refund", *DRINKS],
    )

    def reset(self, seed):
        rng = self.generator(seed)
        slots = [
            tt.Object(i, "slot", drink=drink, price=rng.integers(1, 4), stock=rng.integers(4))
            for i, drink in enumerate(DRINKS, start=1)
        ]
        return tt.State(self.schema, [tt.Object(0, "machine", credit=0), *slots])

    def dynamics(self, state, action):
        credit = state[0].credit
        if action == "refund":
            return [(state.replace(0, credit=0), 1.0)]
        if action == "coin":
            return [(state.replace(0, credit=min(credit + 1, 5)), 1.0)]
        (slot,) = state.find("slot", drink=action)
        if slot.stock == 0 or not slot.affordable:
            return [(state, 1.0)]
        sold = {0: {"credit": credit - slot.price}, slot.id: {"stock": slot.stock - 1}}
        return [(state.replace_many(sold), 1.0)]

    def reward(self, before, action, after):
        return sum(slot.stock for slot in before.of_class("slot")) - sum(
            slot.stock for slot in after.of_class("slot")
        )


if __name__ == "__main__":
    world = Vending()
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, steps=8_000, seed=0))
    print(model.rules["slot.stock.cola"].to_text("english"))
    print(model.rules["transition.reward.cola"])
    print(model.check(world))

    print(tt.Agent(model).play(world, steps=8, level=3).actions)
    model.to_python("vending_rules.py")
