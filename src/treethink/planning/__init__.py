"""Planning with a model, and acting in a world.

    model, state -> search -> Plan -> Agent -> Episode -> score

`search.py` chooses one action, `agent.py` plays episodes, `scores.py` computes the scores that an
episode allows.
"""

from treethink.planning.agent import Agent, Episode
from treethink.planning.scores import ScoreBounds, score_bounds
from treethink.planning.search import Plan, plan

__all__ = ["Agent", "Episode", "Plan", "ScoreBounds", "plan", "score_bounds"]
