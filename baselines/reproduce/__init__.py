"""What reproduces a claim: growth of regret, who wins where, published curves, speed, and tuned parameters.

Inside::

    cells.py          cells: a principal in a task on some seeds
    growth.py         how a regret grows
    table_1.py        Table 1
    theorems.py       the theorems as slopes
    theorems_page.py  their page
    ablations.py      what each part of the principals is for
    lemma_counts.py   how often a lemma is broken
    own_regret.py     the own regret of agents
    who_wins.py       every principal against every agent
    who_wins_page.py  their page
    published.py      published curves
    types.py          types of agents
    learners.py       learners from scratch
    trained.py        trained principals beside scripts
"""
