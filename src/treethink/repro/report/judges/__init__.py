"""How claims are held against records: one judge for each kind of claim."""
