"""Rules and tests in plain English.

sentences   a rule as a sentence, or as a short nested list of sentences
phrases     the tree of a rule as nested choices, with related conditions joined
tests       a test in words: as a condition, as a statement about given objects, as a supposition
words       names for objects, positions and steps: "that door", "directly above it", "2 left"
"""
