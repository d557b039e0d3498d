"""Pictures of rules: by matplotlib, in the language of Graphviz, and of Mermaid.

`Rule.draw`, `Rule.to_dot` and `Rule.to_mermaid` are the way in. Only pictures need matplotlib.
"""
