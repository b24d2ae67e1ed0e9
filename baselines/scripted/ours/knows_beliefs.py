"""A privileged yardstick: it observes the agent's beliefs, and must learn only its own rewards."""

from collections.abc import Callable

import numpy as np

from baselines.principal import Rounds, hold, offer
from baselines.scripted.ours.particle import make_offer
from baselines.scripted.ours.particle_filter import fresh_memory, particle_beliefs
from baselines.scripted.simple import Yardstick
from pa_env.checks import known
from pa_env.kernel.compiling import Direct, compiled
from pa_env.kernel.layout import Floats, Integers

# Parameters of the worth g, for each objective.
WORTH = {
    "regret": {"bonus": 0.73, "decay": 0.43, "fade": 0.37, "ceiling": 1.42, "teaching": -0.05},
    "utility": {"bonus": 1.08, "decay": 0.39, "fade": 0.22, "ceiling": 1.74, "newness": -0.6, "teaching": 2.36},
}


@compiled
def _respond(memory: Floats, plays: Integers, sums: Floats, means: Floats, offer: Floats) -> int:
    """Write the best offer to an agent that believes ``means`` (K,), and return its arm or NO_ARM."""
    beliefs = particle_beliefs(memory, offer.size)
    for a in range(offer.size):
        beliefs.means[a, 0] = means[a]
    return make_offer(memory, beliefs, plays, sums, offer)


respond: Callable[..., int] = Direct(_respond)


class KnowsBeliefs(Yardstick):
    """Privileged: knowing muhat(t), it moves the agent to the arm with the largest g + muhat at the lowest price.

    It is the particle principal with one particle, which is the truth: the worth g_a of an arm, an estimate of theta_a
    with a bonus, is that of :mod:`baselines.scripted.ours.particle`, and pi*_a is known. Its regret
    comes only from learning theta. The additional regret of other principals is the cost of not knowing the agent's
    beliefs. It is a yardstick, not a bound: a better index than g may exist.

    Guarantee: none. It assumes a greedy agent that learns: one that explores, or keeps its own regret low, does not
    always play what it is paid for.

    Where it fails: on misaligned instances its utility is hardly above that of no incentive; parameters of their own
    would reach more there. The parameters were tuned at K = 3 and 5, T = 100 to 1000, one set for each objective.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        objective: What the parameters of g were chosen for: "regret" (R_T) or "utility". For utility it tries arms
            early, while the agent knows nothing and trials are cheap, and avoids teaching it what it likes.
    """

    name = "knows-beliefs"
    longest = 10**4

    def __init__(self, n_arms: int, horizon: int, objective: str = "regret") -> None:
        known("objective", objective, WORTH)
        self.objective = objective
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """The best offer to the agent's beliefs, round by round."""
        game = self.game
        entries = {"horizon": self.horizon, **WORTH[self.objective]}
        memory = fresh_memory(self.n_arms, 1, np.random.default_rng(0), knows=0.0, **entries)
        amounts = np.zeros(self.n_arms)
        while True:
            arm = respond(memory, self.plays, self.sums, game.means[0], amounts)
            yield hold(arm, amounts[arm]) if arm >= 0 else offer({})
