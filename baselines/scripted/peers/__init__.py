"""The principals of the paper's predecessors and peers.

Inside::

    ipa.py                    IPA
    net_ucb.py                UCB on net rewards, its second half
    c_ipa.py                  C-IPA
    lin_ucb.py                LinUCB on net rewards, its second half
    belgic.py                 BELGIC
    epsilon_greedy.py         epsilon-greedy
    epsilon_greedy_rule.py    its compiled rule
    robust_epsilon_greedy.py  a stand-in for its robust version
    exploration.py            what both rules share
    revealed.py               what answers reveal about means
    least_violation.py        the means that answers contradict least
    price_grid.py             prices on a grid by Tsallis-INF
"""
