"""Pictures of rules: as SVG, by matplotlib, in the language of Graphviz, and of Mermaid.

`Rule.draw`, `Rule.to_svg`, `Rule.to_dot` and `Rule.to_mermaid` are the way in. Only PNG and PDF
need matplotlib.
"""
