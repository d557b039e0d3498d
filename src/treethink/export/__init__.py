"""Rules and models as files in other formats.

files          draw rules to files: .svg, .png, .pdf
svg, png       a rule as a picture; png.py makes PDFs too, and needs matplotlib
dot, mermaid   a rule for Graphviz and for Mermaid
boxes          the boxes of text that all of these show, and their colours
layout         positions of the boxes of a tree
shapes         sizes of the boxes, and the lines, rectangles and texts of a picture

python         a rule as a Python function; python_module: a model as a module
prolog         a model as Prolog clauses
answers        the counts with which each node answers, and other things that both need
"""
