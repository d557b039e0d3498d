"""Rules and tests in plain English.

sentences   a rule as a sentence, or as a short nested list of sentences
phrases     the tree of a rule as nested choices, with related conditions joined
tests       a test in words: as a condition, as a statement about given objects, as a supposition
outcomes    what happens at a leaf: "the player moves 1 right"
nouns       names for objects: "a wall", "that door"
places      positions and steps: "directly above it", "2 left"
"""
