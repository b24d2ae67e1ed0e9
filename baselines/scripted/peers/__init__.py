"""The principals of the paper's predecessors and peers.

Inside::

    ipa.py                    IPA, with the UCB that is its second half and BELGIC's
    c_ipa.py                  C-IPA, its linear variant, with LinUCB
    belgic.py                 BELGIC
    epsilon_greedy.py         epsilon-greedy
    robust_epsilon_greedy.py  a stand-in for its robust version
    revealed_preferences.py   what answers reveal about means, for both
    price_grid.py             prices on a grid by Tsallis-INF
"""
