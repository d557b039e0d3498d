"""Changing a model by hand: rules that are written, pinned or simplified.

edit         replace, pin and unpin parts of rules; simplify all rules
parse        read a rule from its text, the inverse of ``str(rule)``
simplify     the same rule with fewer tests
implication  whether the answers on a path decide a test below

The engine's side is editing.cpp.
"""
