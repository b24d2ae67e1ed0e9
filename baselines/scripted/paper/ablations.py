"""The paper's principals with one part left out, to show the effect of that part (Liu & Ratliff, ICML 2025).

They are not in the list of principals. In a benchmark they are named by module and class, as in
``pa-bench run --principal baselines.scripted.paper.ablations:BadArmsUnplayed,constants=practical``; ``pa-bench
reproduce ablations`` compares each with the principal that it is made from.
"""

from collections.abc import Generator

from baselines.principal import Hold, Outcome, hold
from baselines.scripted.paper.elimination import Elimination
from baselines.scripted.paper.exploratory import Exploratory
from baselines.scripted.paper.linear import LinearElimination
from baselines.scripted.paper.search import Search, binary_search


class BadArmsUnplayed(Elimination):
    """:class:`Elimination` that never plays an eliminated arm again, as in classical phased elimination.

    The agent's estimates of bad arms stay rough, and so do the incentives that are searched against them.
    """

    name = "bad-arms-unplayed"

    def stabilise(self, bad: list[int], rounds: int) -> Generator[Hold, Outcome, None]:
        """Nothing."""
        yield from ()


class NoAsymmetricCheck(Elimination):
    """:class:`Elimination` with plain binary searches, as for an agent that knows its means.

    The agent's means move during a search, so the incentive may end below the optimal one.
    """

    name = "no-asymmetric-check"

    def search(self, arm: int) -> Search:
        """One plain search: the upper end, and 1/T."""
        upper = yield from binary_search(arm, self.horizon, self.ceiling)
        return upper + 1 / self.horizon


class NoIncentiveTesting(Exploratory):
    """:class:`Exploratory` that searches once for each arm and holds what it found, as :class:`Elimination` does.

    A search during which the agent explored may find too small an incentive, and the arm is then hardly played.
    """

    name = "no-incentive-testing"
    repeats_searches = False

    def test_incentives(self, arm: int, incentives: list[float], length: int) -> Generator[Hold, Outcome, None]:
        """Hold the incentive for 2 T_m rounds, whatever is played."""
        yield hold(arm, incentives[0], rounds=2 * length)


class NoMedian(Exploratory):
    """:class:`Exploratory` that drops an arm by one test, as :class:`Elimination` does, not by the median of many.

    (The mean of the answers 0 and 1, compared with 1/2, is the median.) An agent that explores in that one round drops
    an arm for good.
    """

    name = "no-median"
    repeats_tests = False


class NoConservativeCut(LinearElimination):
    """:class:`LinearElimination` that cuts its set exactly where the answer says.

    The agent's estimate is not its parameter s, which may be cut off.
    """

    name = "no-conservative-cut"
    conservative = False
