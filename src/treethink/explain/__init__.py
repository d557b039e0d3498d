"""What a model has learned, for people. Nothing here learns, or changes a model.

english/         rules and tests in plain English
why/             why a model predicts what it predicts, and what would change the prediction
compare/         where a model is wrong about a world, and where two models disagree
summary/         a model in numbers: sizes, confidence, what was never seen, what was dropped
notebook         what notebooks show of states, predictions, rules and models
notebook_html    the same as HTML
object_html      schemas, worlds, plans and episodes as HTML

path             the path of an object through a tree, test by test
distributions    distributions over values: as text, and when two of them count as different
rich_text        objects that rich can print, as plain text and in notebooks
state_picture    a picture of a state of which only the schema is known
"""
