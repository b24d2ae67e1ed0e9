"""The layout of a game's data: enumerations, records, arrays, observations and scores, each declared once.

The kernel, the interfaces, the wrappers, the tables and the figures all read this module. Codes of agents and of
families of instances are beside the code that branches on them, in :mod:`pa_env.kernel.other_agents` and
:mod:`pa_env.kernel.instances`.

Shapes: N copies of a game, K arms, d dimensions (0 unless rewards are linear).
"""

from enum import IntEnum
from typing import Any, NamedTuple, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

NO_ARM = -1  # where an arm's index is expected and there is none
BLOCK_SIZE = 256  # largest number of rewards drawn at a time, ahead, so that the compiler can vectorise the draws
FLUSH = 4096  # rounds after which running sums are flushed: drift at 1e9 rounds near 1e-12 instead of 1e-8
SPAN_TOLERANCE = 1e-6  # a direction shorter than this adds nothing to the span of the arms


class Score(IntEnum):
    """Scores of a round, and their sums over an episode (columns of ``Arrays.totals``)."""

    UTILITY = 0  # X - pi_A
    EXPECTED_UTILITY = 1  # theta_A - pi_A
    REGRET = 2  # R_T: against the best incentives for the agent's beliefs in this round
    REGRET_ORACLE = 3  # R_T^oracle: against the best incentives for the agent's true means
    REGRET_BAR = 4  # Rbar_T: R_T^oracle, but every incentive offered is charged, accepted or not
    OVERPAYMENT = 5  # what was paid above pi*_A(t)
    AGENT_REGRET = 6  # the agent's own: max_a mu_a + pi_a(t), minus mu_A + pi_A(t)
    REGRET_RESPONSE = 7  # against the best offer for the agent's true choice law (pa_env.kernel.responses)
    REGRET_FIXED = 8  # against the best fixed price on one arm in hindsight; not a sum (pa_env.kernel.responses)


class RoundResult(IntEnum):
    """Columns of the kernel's results of a round (N, 8 + K)."""

    UTILITY = 0  # the first five are scores, in their order
    EXPECTED_UTILITY = 1
    REGRET = 2
    REGRET_ORACLE = 3
    REGRET_BAR = 4
    REWARD = 5  # X, the principal's
    ARM = 6
    AGENT_REWARD = 7  # R
    OPTIMAL = 8  # and the K - 1 columns after it: the optimal incentives pi*_a(t)


_OPTIMAL = (0, slice(8, None))  # of the first copy


def round_info(results: Floats) -> dict[str, Any]:
    """The ``info`` of a round of one copy, from its results (1, 8 + K); in the order of their columns.

    Written out, because a loop over the columns takes twice as long.
    """
    (values,) = results.tolist()
    return {
        "utility": values[0],
        "expected_utility": values[1],
        "regret": values[2],
        "regret_oracle": values[3],
        "regret_bar": values[4],
        "reward": values[5],
        "arm": int(values[6]),
        "optimal_incentives": results[_OPTIMAL],
    }


class ArmRow(IntEnum):
    """Rows of ``Arrays.arms``."""

    MU = 0  # mu_a, the agent's mean reward
    THETA = 1  # theta_a, the principal's mean reward
    MEAN = 2  # muhat_a(t), what the agent believes
    AGENT_SUM = 3  # sum of the agent's rewards
    PRINCIPAL_SUM = 4  # sum of the principal's rewards


# As plain integers: indexing with an enumeration takes Python a fifth of a microsecond longer.
UTILITY, REWARD, ARM, AGENT_REWARD, OPTIMAL = (
    *(
        int(RoundResult.UTILITY),
        int(RoundResult.REWARD),
        int(RoundResult.ARM),
        int(RoundResult.AGENT_REWARD),
        int(RoundResult.OPTIMAL),
    ),
)
MEAN, PRINCIPAL_SUM = int(ArmRow.MEAN), int(ArmRow.PRINCIPAL_SUM)
SUMS = int(Score.REGRET_FIXED)  # the scores before it are sums over rounds
SCORES = tuple(score.name.lower() for score in Score)
NOT_ALWAYS = ("regret_response", "regret_fixed")  # scores that are NaN where they are not defined
INFO = tuple(round_info(np.zeros((1, len(RoundResult)))))


def round_infos(results: Floats) -> dict[str, Any]:
    """The infos of many copies as arrays; written out like :func:`round_info`."""
    column = results.T
    return {
        "utility": column[0],
        "expected_utility": column[1],
        "regret": column[2],
        "regret_oracle": column[3],
        "regret_bar": column[4],
        "reward": column[5],
        "arm": column[ARM].astype(np.int64),
        "optimal_incentives": results[:, OPTIMAL:],
    }


class Ties(IntEnum):
    """Which of several maximisers an agent plays."""

    LOWEST = 0
    HIGHEST = 1
    RANDOM = 2
    LARGEST_INCENTIVE = 3


class Exploration(IntEnum):
    """Which arm an exploring agent plays among those that do not maximise."""

    UNIFORM = 0
    WORST = 1  # for the principal: the lowest theta_a - pi_a
    ROUND_ROBIN = 2
    FIXED_ARM = 3  # FIXED_ARM + a: arm a
    TARGET = -1  # the one with the largest incentive
    FUNCTION = -2  # the answer of a user's compiled function


class Order(IntEnum):
    """The order in which types of agents answer."""

    RANDOM = 0
    BLOCKS = 1  # each type for horizon / n_types rounds
    GIVEN = 2  # as in ``Arrays.order``, repeated


class Rewards(IntEnum):
    """Laws of the rewards."""

    BERNOULLI = 0
    BETA = 1
    GAUSSIAN = 2
    CONSTANT = 3


class Stream(IntEnum):
    """Streams of an episode's draws; from REWARDS on two per arm, the principal's and the agent's."""

    INSTANCE = 0
    EXPLORE = 1
    EXPLORE_ARM = 2
    TIE = 3
    OFFER = 4
    REWARDS = 5


class Stop(IntEnum):
    """Entries of a stop rule: withdraw an offer after Y rounds once misses > alpha sqrt(Y) + beta / sqrt(Y)."""

    TARGET = 0
    ALPHA = 1
    BETA = 2
    HELD = 3  # Y so far
    MISSES = 4  # rounds so far in which another arm than the target was played
    WITHDRAWN = 5  # 1 once the rule has fired


class Scratch(IntEnum):
    """Rows of ``Arrays.scratch``, for rounds whose rewards are drawn ahead."""

    X = 0  # rewards
    R = 1  # then their running sum
    EXPLORE = 2  # exploration draws
    MEAN = 3  # the agent's mean of the arm before the round
    REGRET = 4  # scores of the round
    OVERPAID = 5
    RESPONSE = 6


class SummaryBlock(IntEnum):
    """Blocks of K numbers of the principal's observation "summary", arm a at ``block * K + a``."""

    PLAYED = 0  # 1 for the arm of the last round
    THETA_HAT = 1  # mean of the rewards X of the arm so far, 0 before its first play
    PLAY_SHARE = 2  # plays / horizon
    REFUSED = 3  # largest refused incentive
    ACCEPTED = 4  # smallest accepted incentive, max_incentive before the first
    OFFER = 5  # last offer


class SummaryNumber(IntEnum):
    """Numbers of the summary after its blocks, at ``len(SummaryBlock) * K + number``."""

    REWARD = 0  # X of the last round
    TIME = 1  # rounds played / horizon


class AgentBlock(IntEnum):
    """Blocks of K numbers of the agent's observation; after them comes the time, rounds played / horizon."""

    OFFER = 0
    MEAN = 1  # its beliefs muhat
    PLAY_SHARE = 2


BLOCKS, OVERALL, AGENT_BLOCKS = len(SummaryBlock), len(SummaryNumber), len(AgentBlock)
# What each ``observation=`` shows of the summary: blocks, then all overall numbers. "learning" scales two blocks.
OBSERVATIONS: dict[str, tuple[SummaryBlock, ...]] = {
    "summary": tuple(SummaryBlock),
    "last": (SummaryBlock.PLAYED, SummaryBlock.OFFER),
    "learning": tuple(SummaryBlock),
}
LOG_SCALE = 4.0  # "learning" shows log(1 + plays) / LOG_SCALE, which is of order 1 at any horizon
UNTRIED = 0.3  # what an arm that was never played is taken to accept, above its largest refused incentive
RUNGS = 5  # prices for each arm of pa_env.wrappers.ForLearning
STEP, ABOVE = 0.001, 0.05  # these prices, above the largest refused incentive and above the smallest accepted one

Record = TypeVar("Record", covariant=True)


class Records(Protocol[Record]):
    """A structured array: an entry has the fields of ``Record``, and a field's name gives all its values."""

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> "Records[Record]": ...
    @overload
    def __getitem__(self, at: str) -> NDArray[Any]: ...
    def __setitem__(self, at: str, values: ArrayLike) -> None: ...


class Rules(Protocol):
    """Fields of the rules of a game, the same for all of its copies."""

    kind: int  # of the agent, see pa_env.kernel.other_agents.Kind
    learns: int  # 1 if its rewards move its means
    knows: int  # 1 if it knows its means
    maximises: int  # 1 if it plays a maximiser of muhat + pi, exploration aside
    exploration: int
    ties: int
    horizon: int
    max_incentive: float
    c0: float  # exploration constant; 0: it never explores
    exponent: float  # of its rate
    temperature: float  # of a logit choice; 0: it maximises
    n_types: int  # J; 0: there are none
    draws_types: int  # 1 if the means of the types are drawn anew each episode
    order: int  # of the types
    choose: np.uint64  # addresses of the user's compiled functions, or 0
    learn: np.uint64  # told the reward alone
    learn_paid: np.uint64  # told the incentive too
    explore: np.uint64


class Copy(Protocol):
    """Fields of the state of a copy."""

    key: np.uint64  # of the seed
    episode: int  # episodes begun since the seed was given
    episode_key: np.uint64
    t: int  # rounds played
    arm: int  # last arm played
    rewards: int  # law of the rewards
    noise: float  # its standard deviation (GAUSSIAN)
    benchmark: float  # max_a theta_a - pi*_a with the true means
    rank: int  # dimensions spanned by the arms played so far (linear)
    type: int  # of the agent that answers in the round to come
    level: float  # the profit on each paid arm in the best response to a logit agent


class Exploring(Protocol):
    """Fields of the state of an exploring agent."""

    cursor: int  # the next arm of round-robin exploration
    piece: int  # first round of the interval on which the probability of exploration is interpolated,
    piece_end: int  # and the first round after it
    chance: float  # p_t = chance + x (slope + x curve), x = t - piece
    slope: float
    curve: float


def record_type(fields: type) -> np.dtype[np.void]:
    """The type of the entries of an array of :class:`Records`."""
    codes = {int: "i8", float: "f8", np.uint64: "u8"}
    return np.dtype([(name, codes[kind]) for name, kind in fields.__annotations__.items()])


class LinearArrays(NamedTuple):
    """The additional state of a game with linear rewards."""

    vectors: Floats  # (N, K, d) the arms
    parameters: Floats  # (N, 2, d) s and nu
    basis: Floats  # (N, d, d) an orthonormal basis of the arms played so far
    coordinates: Floats  # (N, d, K) the arms in that basis
    gram: Floats  # (N, d, d) sum of a a' in that basis
    factor: Floats  # (N, d, d) its Cholesky factor
    moment: Floats  # (N, d) sum of R a in that basis
    estimate: Floats  # (N, d) shat in that basis


class AgentArrays(NamedTuple):
    """The additional state of agents that are not greedy on their means (:mod:`pa_env.kernel.other_agents`)."""

    memory: Floats  # (N, M): EXP3's estimated gains, the means of types, or what an agent's functions keep
    order: Integers  # (L,) types in the order in which they answer, if it is given
    kept: Floats  # (M,), a copy's memory while its agent is asked for an answer that is not played


class Arrays(NamedTuple):
    """The state of N copies of a game: plain arrays, so that games can be copied and pickled in mid-episode.

    The last three are None in games without them. Functions that use one take it as an argument of its own: Numba
    leaves out branches on an argument that is None, so that a game compiles only what it plays.
    """

    rules: Records[Rules]  # (1,)
    state: Records[Copy]  # (N,)
    arms: Floats  # (N, len(ArmRow), K)
    plays: Integers  # (N, K)
    totals: Floats  # (N, 2, SUMS): flushed sums and running ones
    summary: Floats32  # (N, summary_size(K)), or (N, 0) if it is not kept
    scratch: Floats  # (len(Scratch), BLOCK_SIZE + 1)
    linear: LinearArrays | None  # if rewards are linear
    exploring: Records[Exploring] | None  # (N,), if the agent explores
    agent: AgentArrays | None  # if the agent is not greedy


def new_arrays(copies: int, n_arms: int, dim: int = 0, observe: bool = True) -> Arrays:
    """Arrays of a game with a greedy agent before its first episode.

    Args:
        copies: N.
        n_arms: K.
        dim: d, 0 unless rewards are linear.
        observe: whether the principal's summary is kept.
    """
    return Arrays(
        rules=np.zeros(1, record_type(Rules)),
        state=np.zeros(copies, record_type(Copy)),
        arms=np.zeros((copies, len(ArmRow), n_arms)),
        plays=np.zeros((copies, n_arms), np.int64),
        totals=np.zeros((copies, 2, SUMS)),
        summary=np.zeros((copies, summary_size(n_arms) if observe else 0), np.float32),
        scratch=np.zeros((len(Scratch), BLOCK_SIZE + 1)),
        linear=new_linear_arrays(copies, n_arms, dim) if dim else None,
        exploring=None,
        agent=None,
    )


def new_linear_arrays(copies: int, n_arms: int, dim: int) -> LinearArrays:
    """Arrays of N copies of a linear game with K arms in d dimensions."""
    return LinearArrays(
        vectors=np.zeros((copies, n_arms, dim)),
        parameters=np.zeros((copies, 2, dim)),
        basis=np.zeros((copies, dim, dim)),
        coordinates=np.zeros((copies, dim, n_arms)),
        gram=np.zeros((copies, dim, dim)),
        factor=np.zeros((copies, dim, dim)),
        moment=np.zeros((copies, dim)),
        estimate=np.zeros((copies, dim)),
    )


def copy_of(arrays: Arrays, i: int) -> Arrays:
    """The arrays of copy ``i`` alone: views."""
    part, (linear, exploring, agent) = slice(i, i + 1), arrays[-3:]
    return arrays._replace(
        state=arrays.state[part],
        arms=arrays.arms[part],
        plays=arrays.plays[part],
        totals=arrays.totals[part],
        summary=arrays.summary[part],
        linear=None if linear is None else LinearArrays(*(array[part] for array in linear)),
        exploring=None if exploring is None else exploring[part],
        agent=None if agent is None else AgentArrays(agent.memory[part], agent.order, agent.kept),
    )


def kind_of(arrays: Arrays) -> int:
    """A number that tells apart arrays of different types, for which functions are compiled separately."""
    return sum(2**k for k, optional in enumerate(arrays[-3:]) if optional is not None)


def summary_size(n_arms: int) -> int:
    """Length of the principal's summary."""
    return BLOCKS * n_arms + OVERALL


def block_columns(block: SummaryBlock | AgentBlock, n_arms: int) -> slice:
    """The columns of the K numbers of a block in an observation."""
    return slice(block * n_arms, (block + 1) * n_arms)


def overall_column(number: SummaryNumber, n_arms: int) -> int:
    """The column of an overall number in the summary."""
    return BLOCKS * n_arms + number


def shown_columns(observation: str, n_arms: int) -> NDArray[np.intp]:
    """Columns of the summary that an observation consists of."""
    blocks = [np.arange(n_arms) + block * n_arms for block in OBSERVATIONS[observation]]
    return np.concatenate([*blocks, BLOCKS * n_arms + np.arange(OVERALL)])
