"""What was learned, for people: a model in numbers, in tables and in pictures.

summary.py   a model in numbers: sizes, confidence, what was never seen, what was dropped
leaves.py    the leaves of a rule, and how sure each of them is
table.py     a small table that becomes text or HTML
sheets.py    what a summary says, as tables and sentences
frame.py     all leaves as a pandas data frame
html.py      states, predictions and rules as HTML, for notebooks
levels.py    the picture of a state of which only the schema is known

styles.py      the ways in which a rule can be told: as a formula, in English, as code
english.py     a rule as a sentence, or as a short list of them
reading.py     a tree put the way a person would say it: what belongs together at once
conditions.py  tests in words: "a wall is directly to the right of it"
nouns.py       what objects are called: "a wall", "that door"
outcomes.py    outcomes in words: "the player moves 1 right"
places.py      left, right, up and down

code.py      a rule as a Python function that runs on its own; expressions.py, running.py: its parts
module.py    a model as a Python module (module.txt: what all of them share)
prolog.py    a model as clauses of Prolog (prolog.txt: what all of them share)
answers.py   what each node answers, empty leaves too, for all three

why.py       why a model predicts what it predicts: Explanation; reasons.py: value by value
routing.py   the way of an object through a tree, step by step; vectors.py: values, added up
otherwise.py the nearest reason for which it could have been otherwise
wording.py   tests about given objects, in words: what is so; supposing.py: what would be
chances.py   distributions, and when two of them count as different
picture.py   an explanation over the picture of its level
checking.py  where a model is wrong, in as few objects as possible; mistaken.py: as text
differing.py what two models disagree on; differences.py: as text
imagining.py states for that, made of the models' own tests
shrinking.py the smallest state that still shows something
printed.py   what rich can show, as plain text and in notebooks

Nothing here learns or changes a model.
"""
