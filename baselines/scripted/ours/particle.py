"""A principal that tracks many possible agents (particles), and makes the offer that is best on average over them.

It is our own algorithm, not from a paper, and has no proof. The formulas are in
:mod:`baselines.scripted.ours.particle_beliefs` (what the agent may believe) and
:mod:`baselines.scripted.ours.particle_rule` (what is offered).
"""

from baselines.principal import Principal, Rounds, follow
from baselines.scripted.ours.particle_memory import Entry, fresh_memory
from baselines.scripted.ours.particle_rule import particle_rule
from pa_env.checks import at_least, finite, whole


class Particle(Principal):
    """Pay one arm the best price on average over particles, each of them an agent that fits all answers so far.

    Beliefs of a learning agent start at exactly 0, and until its first success a tiny offer moves it. Gaussian beliefs,
    like those of the profit target, cannot represent that; particles that count successes can.

    Assumes that the agent is greedy, up to exploration, on means that it has learnt from 0 or knows, and that its
    rewards are 0 or 1. Rewards in [0, 1] of another law vary less than that, and what does not fit is corrected as an
    error of the particles. The principal's own rewards may have any law with means in about [0, 1].

    Guarantee: none. R_T beside that of the profit target and of bracket UCB in the same episodes (seeds 0, 1, ...), on
    uniform instances and against the empirical-mean agent unless said otherwise: 1.07, 1.45 and 1.51 at K = 3, T = 100
    (5000 seeds); K = 5, T = 200 (5000 seeds): 1.83, 2.43 and 2.59, on misaligned instances 2.60, 3.36 and 3.54, against
    the oracle agent 7.75, 8.16 and 10.35, against the exploratory agent 18.9, 23.9 and 21.5; 3.35, 4.25 and 4.53 at
    K = 5, T = 1000 (3000); 6.3, 7.9 and 10.5 at K = 20, T = 1000 (500). All are from calls such as

        baselines.simulate("particle", "uniform", "oracle", horizon=200, seeds=range(5000)).regret.mean()

    Where it fails:

    - At long horizons the profit target is better: at T = 10^4, K = 5, R_T is 11.3 +- 2.3 against 8.3 +- 1.5 (300
      seeds), and 127 +- 25 against 74 +- 16 if the agent is an oracle (200); 36 +- 15 against 17 +- 5 at K = 20 (60);
      at T = 10^5 72 +- 49 against 26 +- 11 (40). It lacks the profit target's growing bonus and its
      scheduled price tests.
    - A round takes about ten times as long as the profit target's, in proportion to particles and arms.
    - The particles do not cover means outside [0, 1], such as those of an agent with initial means of 2.
    - The defaults serve R_T, not utility.

    The defaults were chosen by hand among some thirty sets on seeds from 3 * 10^8 on, at T = 100 to 1000.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        particles: Number of particles, from 1 to 100,000.
        bonus: Factor of the optimism about theta, at least 0.
        decay: Exponent with which the bonus falls with the plays of an arm, at least 0.
        fade: Exponent with which the bonus fades towards the end of the game, at least 0.
        ceiling: Upper bound on the worth of an arm with its bonus, at least 0.
        newness: What is subtracted from the worth of an arm that was never played.
        teaching: Weight of what the agent is expected to learn from an arm.
        patience: Weight of later rounds when a price is tried, at least 0.

    """

    name = "particle"
    longest = 10**4

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        particles: int = 64,
        bonus: float = 0.65,
        decay: float = 0.5,
        fade: float = 0.4,
        ceiling: float = 1.4,
        newness: float = 0.0,
        teaching: float = 0.0,
        patience: float = 0.05,
    ) -> None:
        self.particles = whole("particles", particles, 1, 100_000)
        self.parameters = {
            "bonus": at_least("bonus", bonus, 0.0),
            "decay": at_least("decay", decay, 0.0),
            "fade": at_least("fade", fade, 0.0),
            "ceiling": at_least("ceiling", ceiling, 0.0),
            "newness": finite("newness", newness),
            "teaching": finite("teaching", teaching),
            "patience": at_least("patience", patience, 0.0),
        }
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        memory = fresh_memory(self.n_arms, self.particles, self.rng)
        memory[Entry.HORIZON] = self.horizon
        for name, value in self.parameters.items():
            memory[Entry[name.upper()]] = value
        yield follow(particle_rule(), memory, self.horizon)
