"""Plan in a model, and act by it.

    model, state -> search -> Plan -> Agent -> Episode -> score

`search.py` chooses one action, `agent.py` plays episodes, `scores.py` says how good an episode was.
"""

from treethink.planning.agent import Agent, Episode
from treethink.planning.scores import ScoreBounds, score_bounds
from treethink.planning.search import Plan, plan

__all__ = ["Agent", "Episode", "Plan", "ScoreBounds", "plan", "score_bounds"]
