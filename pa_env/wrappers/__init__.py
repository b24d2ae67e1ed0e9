"""Action wrappers for the principal, for scalar and batched environments.

A raw offer is n_arms incentives. Learners do better with smaller action spaces, or with actions that mean the same in
every state. Each wrapper here turns such an action into an offer. The first argument of all of them is the environment,
from ``gym.make`` or ``gym.make_vec``.

>>> import gymnasium as gym, pa_env
>>> from pa_env.wrappers import IncentiveGrid, RescaleIncentive
>>> RescaleIncentive(gym.make("PrincipalAgent-v0")).action_space
Box(-1.0, 1.0, (5,), float32)
>>> IncentiveGrid(gym.make_vec("PrincipalAgent-v0", num_envs=4), levels=21).single_action_space
Discrete(105)

| wrapper | action | offer |
|---|---|---|
| ``RescaleIncentive`` | [-1, 1]^n_arms | max_incentive times the absolute value |
| ``TargetArm`` | (arm, amount) | the amount on that arm, nothing elsewhere |
| ``IncentiveGrid`` | arm x level, one integer | a level of an even grid on that arm |
| ``BracketIncentive`` | arm x place, one integer | on that arm, a place relative to what it refused and accepted |
| ``ProfitLevel`` | one number c | theta_hat_a + bonus_a - c on every arm, where that is positive |
| ``ForLearning`` | arm x rung, one integer | on that arm, one of five prices near what it refused and accepted |

To learn from scratch, use :func:`ForLearning`, which also gives the observation "learning".

Inside::

    base.py    a menu of actions, for one environment or a batch
    menus.py   five menus
    ladder.py  ForLearning: a ladder of prices, and its observation
"""

from pa_env.wrappers.ladder import ForLearning
from pa_env.wrappers.menus import BracketIncentive, IncentiveGrid, ProfitLevel, RescaleIncentive, TargetArm

__all__ = ["BracketIncentive", "ForLearning", "IncentiveGrid", "ProfitLevel", "RescaleIncentive", "TargetArm"]
