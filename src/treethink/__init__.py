"""Learn object-oriented transition models: exact, readable rules of how a world works.

    world -> state -> facts -> tree (one per class, attribute and action) -> prediction

In:   transitions: a `State` before, an action, and the `State` after.
Out:  a `TreeThink` model, which predicts a distribution over next states. Its rules can be read,
      and `plan` and `Agent` use it to act.
"""

from contextlib import suppress
from importlib.metadata import version

from treethink import _moved, signatures
from treethink.errors import (
    BrokenModelError,
    CheckFailed,
    LogError,
    MissingPackageError,
    ModelFileError,
    NoiseWarning,
    RecordsError,
    ResourceError,
    RuleError,
    SceneError,
    SchemaError,
    SettingError,
    StateError,
    StreamError,
    TransitionError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
)
from treethink.evaluation import Evaluation, evaluate
from treethink.explain import notebook
from treethink.foldt import FOLDT, Facts
from treethink.frames import JUMPS, STAYS, Frame
from treethink.logs import (
    Log,
    LogSchema,
    guess_schema,
    read_csv,
    read_frame,
    read_jsonl,
    read_schema,
    write_schema,
)
from treethink.metrics import error
from treethink.model import Change, Prediction, TreeThink
from treethink.planning import Agent, Episode, Plan, plan
from treethink.presets import Category, Derived, Flag, Number, Position, Score
from treethink.rules import Rule
from treethink.state import Attribute, Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.stream.transition import Transition
from treethink.worlds import World, make

_moved.install()
signatures.install()
notebook.install()

with suppress(ImportError, AttributeError):  # Gymnasium is missing or incomplete
    from treethink.envs import register_all

    register_all()

__version__ = version("treethink")

__all__ = [
    "Schema",
    "Attribute",
    "Position",
    "Number",
    "Category",
    "Flag",
    "Score",
    "Derived",
    "Object",
    "State",
    "TreeThink",
    "Prediction",
    "Rule",
    "Frame",
    "JUMPS",
    "STAYS",
    "Change",
    "FOLDT",
    "Facts",
    "World",
    "make",
    "transitions",
    "read_csv",
    "read_jsonl",
    "read_frame",
    "Log",
    "LogSchema",
    "guess_schema",
    "read_schema",
    "write_schema",
    "Transition",
    "error",
    "evaluate",
    "Evaluation",
    "plan",
    "Plan",
    "Agent",
    "Episode",
    "TreeThinkError",
    "UnknownNameError",
    "WrongTypeError",
    "SchemaError",
    "StateError",
    "TransitionError",
    "SettingError",
    "RuleError",
    "SceneError",
    "ModelFileError",
    "NoiseWarning",
    "StreamError",
    "LogError",
    "RecordsError",
    "ResourceError",
    "BrokenModelError",
    "MissingPackageError",
    "CheckFailed",
    "__version__",
]
