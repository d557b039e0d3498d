"""A world with every preset: a guest walks to a machine that serves drinks."""

from __future__ import annotations

from typing import Any

import treethink as tt
from treethink.worlds import Scene, World

DRINKS = ["cola", 'odd "tea"', "no"]
LENGTH = 4


def affordable(state: tt.State, machine: tt.Object) -> bool:
    """Whether the credit is enough for the price."""
    return bool(machine.credit >= machine.price)


def mood(state: tt.State, guest: tt.Object) -> str:
    """How the guest is: the derived flag of the machine counts too."""
    (machine,) = state.of_class("machine")
    return "glad" if guest.glad else "hopeful" if machine.affordable else "poor"


class Bar(World):
    """A guest walks along a bar and buys drinks, and is glad about the one that is wished for."""

    name = "bar"
    schema = tt.Schema(
        {
            "guest": ["spot", "wish", "glad", "mood"],
            "machine": ["spot", "drink", "credit", "price", "affordable"],
            "game": ["score"],
        },
        {
            "spot": tt.Position(2),
            "drink": tt.Category(DRINKS),
            "wish": tt.Category(DRINKS, like="drink"),
            "glad": tt.Flag(),
            "credit": tt.Number(),
            "price": tt.Number(like="credit"),
            "affordable": tt.Derived(affordable),
            "mood": tt.Derived(mood, tt.Category(["glad", "hopeful", "poor"])),
            "score": tt.Score(),
        },
        ["walk", "coin", "serve", "shuffle"],
    )

    def scenes(self) -> list[Scene]:
        state = self.reset(0)
        return [
            Scene(f"what {each} does", state, each, self.distribution(state, each))
            for each in self.schema.actions
        ]

    def reset(self, seed: int) -> tt.State:
        rng = self.generator(seed)
        place, wish, drink, price = (int(each) for each in rng.integers([LENGTH, 3, 3, 4]))
        return self.state(place, DRINKS[wish], DRINKS[drink], price)

    def state(self, place: int, wish: str, drink: str, price: int) -> tt.State:
        guest = tt.Object(1, "guest", spot=(place, 0), wish=wish, glad=False)
        machine = tt.Object(2, "machine", spot=(0, 0), drink=drink, credit=0, price=price)
        return tt.State(self.schema, [guest, machine, tt.Object(3, "game", score=0)])

    def dynamics(self, state: tt.State, action: str) -> list[tuple[tt.State, float]]:
        guest, machine, game = (state.of_class(name)[0] for name in self.schema.classes)
        if action == "walk":
            return [(state.replace(guest.id, spot=((guest.spot[0] + 1) % LENGTH, 0)), 1.0)]
        if action == "coin":
            return [(state.replace(machine.id, credit=min(machine.credit + 1, 5)), 1.0)]
        if action == "shuffle":
            return [(state.replace(machine.id, drink=drink), 1 / 3) for drink in DRINKS]
        if guest.spot != machine.spot or not machine.affordable:
            return [(state, 1.0)]
        is_glad = guest.wish == machine.drink
        changes: dict[int, dict[str, Any]] = {
            guest.id: {"glad": is_glad},
            machine.id: {"credit": machine.credit - machine.price},
            game.id: {"score": game.score + is_glad},
        }
        return [(state.replace_many(changes), 1.0)]
