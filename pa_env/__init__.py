"""Repeated principal-agent bandit games.

In each round a principal offers an incentive for each arm, an agent picks an arm, and both are rewarded. The principal
does not know the agent's beliefs, and the agent does not know the principal's rewards.

Five interfaces play one compiled game. The same seed gives the same rounds, bit for bit, in all of them: PettingZoo
(:mod:`pa_env.principal_agent_v0`), Gymnasium (``gym.make("PrincipalAgent-v0")``, :mod:`pa_env.envs.scalar`), batched
(``gym.make_vec("PrincipalAgent-v0", num_envs=4096)``, :mod:`pa_env.envs.batched`), both players batched
(``principal_agent_v0.vector_env(num_envs=4096)``, :mod:`pa_env.envs.both_seats`), and held offers
(:meth:`pa_env.game.Game.hold`) for simulations of a billion rounds.

Inside::

    game.py                the game: rounds of one or many copies, and all calls into the kernel
    game_state.py          the state of these copies: how episodes begin, and what can be read from them
    kernel/                the compiled game, and the layout of its data
    principal_agent_v0.py  PettingZoo: both players, turn by turn
    envs/                  Gymnasium: one seat or both, one game or many copies; spaces and pictures
    wrappers/              other actions for the principal, for learners
    instances.py           the mean rewards: fixed, or drawn anew each episode
    scripted_agents.py     the agents by name, and their parameters
    payoff_agents.py       functions of the agents that remember offers
    compiled_agents.py     a user's own agent as two compiled functions
    trained_agents.py      a trained policy as an agent: what it sees, and how it answers
    policy_file.py         a trained policy on disk, of either player
    network.py             the network of trained players, compiled
    memory.py              named numbers and arrays in the memory of a compiled rule or agent
    python_agents.py       a user's own agent as a Python object
    own_functions.py       how users' functions are compiled, and what they are told if they can't be
    rules.py               compiled rules that make offers or withdraw them
    seeding.py             keys and generators that follow from a seed
    checks.py              checks of arguments, with messages that name the remedy
    buffers.py             large arrays that are used again

Keyword arguments, the same everywhere:

- ``n_arms=5``: number of arms K (a fixed instance has its own).
- ``horizon=1000``: rounds T in an episode.
- ``agent="empirical-mean"``: a name from :func:`agents`, the result of :func:`make_agent`, the file of a trained policy
  (``"path.npz"``), your own object or its class, or your own compiled functions (:class:`CompiledAgent`);
  once ``baselines`` is imported, also a spec (``"exploratory,c0=0.3"``, ``"file.py:Mine"``).
- ``instance="uniform"``: a family's name from :func:`families`, an :class:`IID` or :class:`Linear`, or a function
  ``rng -> instance``; families and functions are drawn anew each episode.
- ``max_incentive``: the largest incentive, 4 by default and 2 dim + 2 when rewards are linear.
- ``dim``: dimensions of the arms, when rewards are linear.
- ``observation="summary"``: what the principal observes; also ``"last"`` or ``"learning"`` (:mod:`pa_env.envs.spaces`).
- ``render_mode=None``: ``"ansi"``, ``"rgb_array"`` or ``"human"``.
- ``autoreset_mode``: NEXT_STEP (default), SAME_STEP or DISABLED, for the batched environments.
"""

import gymnasium as gym
import pettingzoo.env_registry.registration as pettingzoo

from pa_env.compiled_agents import CompiledAgent
from pa_env.instances import IID, Linear, families
from pa_env.scripted_agents import Agent, ScriptedAgent, agents, make_agent

__version__ = "0.3.0"
__all__ = [
    "IID",
    "Agent",
    "CompiledAgent",
    "Linear",
    "ScriptedAgent",
    "__version__",
    "agents",
    "families",
    "make_agent",
]


def _register() -> None:
    """Make the environments known to Gymnasium and PettingZoo; doing so twice is harmless."""
    seats = {
        "PrincipalAgent-v0": ("PrincipalEnv", "PrincipalVectorEnv", {}),
        "PrincipalAgentLinear-v0": ("PrincipalEnv", "PrincipalVectorEnv", {"instance": "unit-ball"}),
        "PrincipalAgentFollower-v0": ("FollowerEnv", "FollowerVectorEnv", {}),
    }
    for name, (scalar, batched, kwargs) in seats.items():
        if name not in gym.registry:
            gym.register(
                name,
                entry_point=f"pa_env.envs.scalar:{scalar}",
                vector_entry_point=f"pa_env.envs.batched:{batched}",
                kwargs=kwargs,
                order_enforce=False,  # the environments check order and actions themselves,
                disable_env_checker=True,  # and faster than these two wrappers
            )
    for kind, registry, entry in (
        ("aec", pettingzoo.aec_registry, "env"),
        ("parallel", pettingzoo.parallel_registry, "parallel_env"),
    ):
        if "principal_agent-v0" not in registry:
            pettingzoo.register(kind, "principal_agent-v0", f"pa_env.principal_agent_v0:{entry}")


_register()
