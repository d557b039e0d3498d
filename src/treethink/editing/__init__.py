"""What people change in a model: rules written by hand, rules that stay, rules made smaller.

edits.py        replace, pin and unpin parts of rules
written.py      what stands for a part of a rule, as the engine's nodes
reading.py      a rule read from its text: ``str(rule)`` backwards
asking.py       tests as people write them, as the engine has them
simplifying.py  the same rule with fewer tests
knowledge.py    what the tests on a path say about those below

The engine's side of it is editing.cpp.
"""
