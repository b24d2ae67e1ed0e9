"""Claims of papers, and of this package: each is planned, measured and written to a page.

Inside::

    claim.py           the shape of all claims, what is kept of them, and how a page begins
    table1.py          Table 1 of the paper
    theorems.py        its theorems as slopes
    lower_bound.py     what is paid even if all but theta is told
    practical.py       where practical constants lower the regret
    ablations.py       what each part of its principals is for
    lemma_counts.py    how often a lemma is broken
    published.py       the published curves of IPA's authors
    own_regret.py      the own regret of agents
    types.py           types of agents
    who_wins.py        every principal against every agent
    worst_case.py      principals without a theorem on average, and where they lose
    exact.py           every principal beside the exact optimum of tiny games
    free_fall.py       what it earns to pay first and stop later
    trained.py         trained principals beside scripts
    learners.py        learners from scratch beside scripts
    exploitability.py  what agents that look ahead earn
    growth.py          how a regret grows
    phases.py          which games end in the first phase
"""

from baselines.reproduce import (
    ablations,
    exact,
    exploitability,
    free_fall,
    learners,
    lower_bound,
    own_regret,
    practical,
    published,
    table1,
    theorems,
    trained,
    types,
    who_wins,
    worst_case,
)

CLAIMS = {
    module.CLAIM.name: module.CLAIM
    for module in (
        *(table1, theorems, lower_bound, practical, ablations, published, own_regret, types, who_wins, worst_case),
        *(exact, free_fall, trained, learners, exploitability),
    )
}
