"""A log of a lift, learned without writing down what its columns mean: it fails, and is mended.

python examples/elevator_log.py
"""

from pathlib import Path

import treethink as tt

LOG = Path(__file__).parent / "logs" / "elevator.csv"


if __name__ == "__main__":
    log = tt.read_csv(LOG)  # the schema is guessed
    model = tt.TreeThink(log.schema)
    model.observe_many(log)
    for doubt in model.doubts():
        print(doubt)

    log = tt.read_csv(LOG, log.log_schema.with_attributes(dest=tt.Number(like="floor")))
    model = tt.TreeThink(log.schema)
    model.observe_many(log)
    print(model.rules["lift.door.open"].to_text("english"))
    print(tt.evaluate(model, log))

    plan = tt.plan(model, log[0].before, horizon=5, simulations=5_000)  # four floors, and open
    print(log[0].before[0], "->", plan.action)
    model.to_python("elevator_rules.py")
