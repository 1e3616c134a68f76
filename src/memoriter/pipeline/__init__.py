"""The pipeline: recipes, plans and their execution.

`recipe` declares a search (with `passes`, `fusing`, `boosts/`, `orderings/`), `load` reads recipes,
`kinds` lists every lane, boost and ordering, `plan` decides what runs, `run` runs it.
"""
