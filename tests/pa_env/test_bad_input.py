"""Bad input is refused by every interface by a message that says what would be right, and the game stands as it was."""

import copy
import itertools
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from numpy.testing import assert_equal

import pa_env
from pa_env import principal_agent_v0
from pa_env.envs.batched import FollowerVectorEnv, PrincipalVectorEnv
from pa_env.envs.scalar import FollowerEnv, PrincipalEnv
from pa_env.game import Game
from pa_env.kernel.layout import OBSERVATIONS
from pa_env.rules import StopRule, compile_rule

K, T, COPIES = 3, 20, 2
OFFER, ARM = [0.25, 0.5, 0.0], 1


class AECPrincipal:
    """The principal's seat of the AEC interface, with the scripted agent in the other."""

    def __init__(self, **settings: Any) -> None:
        self.env = principal_agent_v0.env(**settings)
        self.game = self.env.game

    def reset(self, **arguments: Any) -> None:
        self.env.reset(**arguments)

    def step(self, offer: Any) -> Any:
        self.env.step(offer)
        self.env.step(self.env.infos["agent_0"]["scripted_arm"])
        return self.env.state(), self.env.rewards, self.env.terminations, self.env.infos


class AECAgent(AECPrincipal):
    """The agent's seat of the AEC interface; the offer is always the same."""

    def reset(self, **arguments: Any) -> None:
        self.env.reset(**arguments)
        self.env.step(OFFER)

    def step(self, arm: Any) -> Any:
        self.env.step(arm)
        outcome = self.env.rewards, self.env.terminations, self.env.infos
        if not any(self.env.terminations.values()):
            self.env.step(OFFER)
        return outcome


class Holding(Game):
    """Offers held for a round."""

    def reset(self, seed: Any = None, options: Any = None) -> None:
        self.begin([seed], instance=(options or {}).get("instance"))

    def step(self, offer: Any) -> Any:
        return self.hold(offer, rounds=1), self.totals()

    @property
    def game(self) -> Game:
        return self


BATCHED = {"num_envs": COPIES, "autoreset_mode": AutoresetMode.DISABLED}
PRINCIPALS: dict[str, Callable[..., Any]] = {
    "AEC principal": AECPrincipal,
    "Gymnasium principal": PrincipalEnv,
    "batched principal": partial(PrincipalVectorEnv, **BATCHED),
    "hold": Holding,
}
FOLLOWERS: dict[str, Callable[..., Any]] = {
    "AEC agent": AECAgent,
    "Gymnasium follower": FollowerEnv,
    "batched follower": partial(FollowerVectorEnv, **BATCHED),
}
INTERFACES = PRINCIPALS | FOLLOWERS
SINGLE = [interface for interface in INTERFACES if "batched" not in interface]
GYMNASIUM = [interface for interface in INTERFACES if "Gymnasium" in interface or "batched" in interface]


def open_interface(interface: str, **settings: Any) -> Any:
    """A game in its third round."""
    env = INTERFACES[interface](**{"n_arms": K, "horizon": T} | settings)
    env.reset(seed=7)
    for _ in range(2):
        env.step(good(env))
    return env


def batch(env: Any, action: Any) -> Any:
    """The same action for each copy."""
    return [action] * COPIES if env.game.copies > 1 else action


def good(env: Any) -> Any:
    follows = isinstance(env, AECAgent | FollowerEnv | FollowerVectorEnv)
    return batch(env, ARM if follows else OFFER)


def rounds(env: Any) -> list[Any]:
    """What three more rounds bring, in a new episode if this one is over."""
    if not env.game.arrays.state["episode"].all() or env.game.arrays.state["t"].max() + 3 > T:
        env.reset(seed=3)
    return [env.step(good(env)) for _ in range(3)]


@contextmanager
def refused(*words: str, env: Any = None, error: Any = (ValueError, TypeError)) -> Iterator[None]:
    """The call raises an ``error`` whose message has all ``words``; ``env`` and its future stay what they were."""
    before, twin = pickle.dumps(env), copy.deepcopy(env)
    with pytest.raises(Exception) as caught:  # noqa: PT011, what it is comes next
        yield
    assert issubclass(caught.type, error), f"{caught.type.__name__}: {caught.value}"
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{missing} not in: {caught.value}"
    if env is not None:
        same = pickle.dumps(env) == before
        assert same, "something in the environment changed"
        assert_equal(rounds(env), rounds(twin))


def table(cases: dict[str, tuple[Any, ...]]) -> Any:
    """What is bad, and words that the message about it must have."""
    rows = [pytest.param(bad, words, id=what) for what, (bad, *words) in cases.items()]
    return pytest.mark.parametrize(("bad", "words"), rows)


def in_turn(cases: dict[str, tuple[Any, ...]], interfaces: Iterable[str], always: str = "hold") -> Any:
    """Each case on the interface ``always``, by default the plain game, and on one of the others, which take turns."""
    turns = itertools.cycle(interface for interface in interfaces if interface != always)
    rows = [
        pytest.param(interface, bad, words, id=f"{interface}: {what}")
        for what, (bad, *words) in cases.items()
        for interface in (always, next(turns))
    ]
    return pytest.mark.parametrize(("interface", "bad", "words"), rows)


# ----------------------------------------------------------------------------------------- actions

MOST = "at most max_incentive = 4"
BAD_OFFERS = {
    "too few": ([0.1, 0.2], "incentives", "(2,", "one number for each arm", "3"),
    "too many": ([0.1] * 4, "incentives", "4", "one number for each arm", "3"),
    "one number": (0.5, "incentives", "one number for each arm", "3"),
    "a matrix too many": ([[OFFER]], "incentives", "1, 3)", "one number for each arm"),
    "empty": ([], "incentives", "0", "one number for each arm", "3"),
    "NaN": ([0.1, 0.2, np.nan], "incentives[", "2]", "nan", "at least 0", MOST),
    "infinity": ([0.1, np.inf, 0.2], "incentives[", "1]", "inf", "at least 0", MOST),
    "minus infinity": ([-np.inf, 0.1, 0.2], "incentives[", "0]", "-inf", "at least 0", MOST),
    "negative": ([0.1, -0.25, 0.2], "incentives[", "1]", "-0.25", "at least 0", MOST),
    "just negative": ([0.1, -5e-324, 0.2], "incentives[", "1]", "-5e-324", "at least 0", MOST),
    "too large": ([0.1, 0.2, 4.5], "incentives[", "2]", "4.5", MOST),
    "just too large": ([0.1, 0.2, np.nextafter(4, 5)], "incentives[", "2]", "4.000000000000001", MOST),
    "a string": ("much", "incentives", "'much'", "must be numbers"),
    "strings": (["0.1", "0.2", "0.3"], "incentives", "'0.1'", "must be numbers"),
    "None": (None, "incentives", "None", "must be numbers"),
    "ragged": ([0.1, [0.2, 0.3]], "incentives", "[0.2, 0.3]", "must be numbers"),
    "objects": (np.array(OFFER, object), "incentives", "0.25", "must be numbers"),
    "complex": ([0.1j, 0.2, 0.3], "incentives", "0.1j", "must be numbers"),
}
BAD_ARMS = {
    "too large": (3, "arm", "3", "0 to 2"),
    "far too large": (2**70, "arm", str(2**70), "0 to 2"),
    "negative": (-1, "arm", "-1", "0 to 2"),
    "a float": (1.0, "arm", "1.0", "integer", "0 to 2"),
    "NaN": (np.nan, "arm", "nan", "integer", "0 to 2"),
    "a string": ("1", "arm", "'1'", "integer", "0 to 2"),
    "None": (None, "arm", "None", "integer", "0 to 2"),
    "two": ([0, 1], "arm", "[0, 1]", "integer", "0 to 2"),
    "ragged": ([0, [1, 2]], "arm", "[1, 2]", "integer", "0 to 2"),
    "an object": (np.array(None), "arm", "None", "integer", "0 to 2"),
}


@in_turn(BAD_OFFERS, PRINCIPALS)
def test_bad_offer(interface: str, bad: Any, words: list[str]) -> None:
    env = open_interface(interface)
    with refused(*words, env=env):
        env.step(batch(env, bad))


@in_turn(BAD_ARMS, FOLLOWERS, always="batched follower")
def test_bad_arm(interface: str, bad: Any, words: list[str]) -> None:
    env = open_interface(interface)
    with refused(*words, env=env):
        env.step(batch(env, bad))


def test_one_bad_copy_stops_them_all() -> None:
    env = open_interface("batched principal")
    with refused("incentives[1, 2] = nan", env=env):
        env.step([OFFER, [0, 0, np.nan]])
    env = open_interface("batched follower")
    with refused("arms[1] = 7", "0 to 2", env=env):
        env.step([ARM, 7])


@pytest.mark.parametrize("interface", ["batched principal", "batched follower"])
def test_one_bad_copy_keeps_the_others_from_beginning_anew(interface: str) -> None:
    env = open_interface(interface, horizon=3, autoreset_mode=AutoresetMode.NEXT_STEP)
    env.reset(options={"reset_mask": np.array([True, False])})
    fine = good(env)
    env.step(fine)  # the last round of copy 1, the first of copy 0
    bad = 99 if interface == "batched follower" else [9.0] * K
    other, twin = copy.deepcopy(env), copy.deepcopy(env)
    with refused("[0", "9", env=env):
        env.step([bad, fine[1]])
    assert_equal(other.step([fine[0], bad]), twin.step(fine))  # copy 1 begins anew whatever it is told


@pytest.mark.parametrize("rounds", [0, -1, 1.5, "x", None])
def test_bad_rounds_to_hold(rounds: Any) -> None:
    env = open_interface("hold")
    with refused("rounds", repr(rounds), "an integer at least 1", env=env):
        env.hold(OFFER, rounds=rounds)


@pytest.mark.parametrize("interface", PRINCIPALS)
def test_offers_of_any_numeric_type(interface: str) -> None:
    env, twin = open_interface(interface), open_interface(interface)
    offer = np.array([1.0, 0.0, 1.0])
    for kind in (list, tuple, np.array, np.float32, np.float16, np.int64, np.uint8, np.bool_):
        assert_equal(env.step(batch(env, kind(offer))), twin.step(np.array(batch(twin, offer))))
    assert_equal(rounds(env), rounds(twin))


@pytest.mark.parametrize("interface", PRINCIPALS)
def test_offers_however_they_lie_in_memory(interface: str) -> None:
    env, twin = open_interface(interface), open_interface(interface)
    expected = twin.step(np.array(batch(twin, OFFER)))
    backwards = np.array(batch(env, OFFER))[..., ::-1].copy()[..., ::-1]
    assert_equal(env.step(backwards), expected)
    swapped = backwards.astype(">f8")
    swapped.setflags(write=False)
    assert_equal(env.step(swapped), twin.step(batch(twin, OFFER)))


@pytest.mark.parametrize("interface", FOLLOWERS)
def test_arms_of_any_integer_type(interface: str) -> None:
    env, twin = open_interface(interface), open_interface(interface)
    for kind, arm in itertools.product((int, np.int64, np.int32, np.uint8, np.array), (2, 0)):
        assert_equal(env.step(batch(env, kind(arm))), twin.step(batch(twin, arm)))


def test_the_offer_is_not_written_to_nor_kept() -> None:
    for interface in PRINCIPALS:
        env, twin = open_interface(interface), open_interface(interface)
        offer = np.array(batch(env, OFFER))
        outcome = env.step(offer)
        assert_equal(offer, batch(env, OFFER))
        offer[:] = 3.0
        assert_equal(outcome, twin.step(batch(twin, OFFER)))
        assert_equal(rounds(env), rounds(twin))


# ----------------------------------------------------------------------------------------- order


@pytest.mark.parametrize("interface", INTERFACES)
def test_step_before_reset(interface: str) -> None:
    env = INTERFACES[interface](n_arms=K, horizon=T)
    with refused("reset", env=env, error=ResetNeeded):
        env.step(good(env))


@pytest.mark.parametrize("interface", INTERFACES)
def test_step_after_the_end(interface: str) -> None:
    env = open_interface(interface)
    for _ in range(T - 2):
        env.step(good(env))
    error = ValueError if interface.startswith("AEC") else ResetNeeded  # PettingZoo lets the dead step with None
    with refused("reset", env=env, error=error):
        env.step(good(env))


def test_after_the_end_of_aec() -> None:
    env = open_interface("AEC principal", horizon=2).env
    for player in ("principal_0", "agent_0"):
        with refused(player, repr(OFFER), "must be None"):
            env.step(OFFER)
        env.step(None)
    with refused("reset()", error=ResetNeeded):
        env.step(None)


def test_copies_that_never_began_do_not_play() -> None:
    env = PrincipalVectorEnv(n_arms=K, horizon=T, **BATCHED)
    env.reset(seed=7, options={"reset_mask": np.array([True, False])})
    with pytest.raises(ResetNeeded):
        env.step([OFFER] * COPIES)


def test_no_such_player() -> None:
    env = open_interface("AEC principal").env
    for ask in (env.observe, env.observation_space, env.action_space):
        with pytest.raises((KeyError, ValueError), match="nobody"):
            ask("nobody")


# ----------------------------------------------------------------------------------------- settings

BAD_SETTINGS = {
    "no horizon": ({"horizon": 0}, "horizon = 0", "integer at least 1"),
    "negative horizon": ({"horizon": -1}, "horizon = -1", "integer at least 1"),
    "half a round": ({"horizon": 1.5}, "horizon = 1.5", "integer at least 1"),
    "horizon in words": ({"horizon": "5"}, "horizon = '5'", "integer at least 1"),
    "horizon beyond 64 bits": ({"horizon": 2**64}, f"horizon = {2**64}", "at most"),
    "horizon beyond what is printed": ({"horizon": 10**5000}, "horizon = an integer of 16610 bits"),
    "no arms": ({"n_arms": 0}, "n_arms = 0", "integer at least 1"),
    "arms in words": ({"n_arms": "3"}, "n_arms = '3'", "integer at least 1"),
    "no dimensions": ({"instance": "unit-ball", "dim": 0}, "dim = 0", "integer at least 1"),
    "dimensions of i.i.d.": ({"dim": 2}, "dim = 2", "linear", "'unit-ball'"),
    "too few arms": (
        {"instance": "unit-ball", "dim": 4, "n_arms": 3},
        *("n_arms = 3", "dim = 4", "at least dim"),
    ),
    "no incentives": ({"max_incentive": 0}, "max_incentive = 0", "above 0"),
    "NaN incentives": ({"max_incentive": np.nan}, "max_incentive = nan", "finite number above 0"),
    "endless incentives": ({"max_incentive": np.inf}, "max_incentive = inf", "finite number above 0"),
    "incentives in words": ({"max_incentive": "4"}, "max_incentive = '4'", "finite number above 0"),
    "incentives beyond floats": ({"max_incentive": 10**400}, "max_incentive = 1000"),
    "unknown agent": ({"agent": "orcale"}, "agent = 'orcale'", "did you mean 'oracle'", *pa_env.agents()),
    "unknown family": ({"instance": "unifrom"}, "instance = 'unifrom'", *pa_env.families()),
    "no instance": ({"instance": None}, "instance = None", "pa_env.IID", *pa_env.families()),
    "a number for an instance": ({"instance": 3}, "instance = 3", "pa_env.IID", *pa_env.families()),
    "another number of arms": (
        {"instance": pa_env.IID(mu=[0.1, 0.2], theta=[0.3, 0.4]), "n_arms": 3},
        *("instance has 2 arms", "n_arms = 3", "pass n_arms=2"),
    ),
    "linear without ols": ({"agent": "ols"}, "agent = 'ols'", "linear", "'empirical-mean'", "'unit-ball'"),
    "initial of another size": (
        {"agent": pa_env.make_agent("empirical-mean", initial=[0.1, 0.2]), "n_arms": 3},
        *("initial has 2 numbers", "n_arms = 3"),
    ),
    "explores no such arm": (
        {"agent": pa_env.make_agent("exploratory", exploration=5), "n_arms": 3},
        *("exploration = 5", "below n_arms = 3", "uniform", "worst", "round-robin"),
    ),
    "no agent": ({"agent": None}, "agent = None", "lacks reset, choose, learn", *pa_env.agents()),
    "the agent's class": ({"agent": object}, "agent = <class 'object'>", "lacks reset, choose, learn"),
    "unknown argument": ({"n_arm": 3}, "n_arm"),
}


@in_turn(BAD_SETTINGS, INTERFACES)
def test_bad_settings(interface: str, bad: dict[str, Any], words: list[str]) -> None:
    with refused(*words):
        INTERFACES[interface](**bad)


BAD_NAMES = {
    "observation": ("see", ["AEC principal", "Gymnasium principal", "batched principal"], tuple(OBSERVATIONS)),
    "render_mode": ("video", ["AEC principal", *GYMNASIUM], ("ansi", "rgb_array", "human")),
    "autoreset_mode": ("never", ["batched principal", "batched follower"], [mode.value for mode in AutoresetMode]),
}


@pytest.mark.parametrize(
    ("interface", "argument"),
    [(interface, argument) for argument, (_, interfaces, _) in BAD_NAMES.items() for interface in interfaces],
)
def test_unknown_names_list_the_known(interface: str, argument: str) -> None:
    wrong, _, known = BAD_NAMES[argument]
    for value in (wrong, 5):
        with refused(f"{argument} = {value!r}", *known):
            INTERFACES[interface](**{argument: value})


@pytest.mark.parametrize("copies", [0, -1, 1.5, "x"])
def test_bad_number_of_copies(copies: Any) -> None:
    for batched in (PrincipalVectorEnv, FollowerVectorEnv):
        with refused(f"num_envs = {copies!r}", "integer at least 1"):
            batched(num_envs=copies)


@pytest.mark.parametrize("inner", ["copies", "observe"])
@pytest.mark.parametrize("interface", GYMNASIUM)
def test_what_is_not_a_users_setting_is_refused(interface: str, inner: str) -> None:
    with pytest.raises(TypeError, match=inner):
        INTERFACES[interface](**{inner: 3 if inner == "copies" else False})


BALL = [[1.0, 0.0], [0.0, 1.0]]
S = [0.6, 0.8]
BAD_INSTANCES = {
    "mu above 1": (lambda: pa_env.IID([0.5, 1.5], [0.5, 0.5]), "mu", "1.5", "[0, 1]", "bernoulli"),
    "theta below 0": (lambda: pa_env.IID([0.5], [-0.1], "beta"), "theta", "-0.1", "[0, 1]", "beta"),
    "NaN mean": (lambda: pa_env.IID([0.5, np.nan], [0.5, 0.5]), "mu", "nan", "finite"),
    "infinite mean": (lambda: pa_env.IID([0.5], [np.inf], "gaussian"), "theta", "inf", "finite"),
    "mean beyond float32": (
        lambda: pa_env.IID([0.5], [1e39], "gaussian"),
        "must lie between -1e+38 and 1e+38: rewards are float32",
    ),
    "constant beyond float32": (lambda: pa_env.IID([1e39], [0.5], "constant"), "mu = array([1.e+39]) must lie between"),
    "other lengths": (lambda: pa_env.IID([0.5], [0.5, 0.6]), "mu has 1", "theta 2", "for each arm"),
    "no arms": (lambda: pa_env.IID([], []), "mu = []", "not empty"),
    "a matrix": (lambda: pa_env.IID([[0.5]], [[0.5]]), "mu = [[0.5]]", "1-dimensional"),
    "strings": (lambda: pa_env.IID(["a"], [0.5]), "mu = ['a']", "numbers"),
    "ragged": (lambda: pa_env.IID([0.5], [0.5, [0.5]]), "theta = [0.5, [0.5]]", "numbers"),
    "unknown rewards": (
        lambda: pa_env.IID([0.5], [0.5], "poisson"),
        *("rewards = 'poisson'", "bernoulli", "beta", "gaussian", "constant"),
    ),
    "arms outside the ball": (lambda: pa_env.Linear([[2.0, 0.0], [0.0, 1.0]], S, S), "arms", "2", "most 1"),
    "s outside the ball": (lambda: pa_env.Linear(BALL, [1.0, 0.1], S), "s has norm 1.00499", "at most 1"),
    "nu outside the ball": (lambda: pa_env.Linear(BALL, S, [2.0, 0.0]), "nu has norm 2", "at most 1"),
    "arms on a line": (lambda: pa_env.Linear([[1.0, 0.0]] * 3, S, S), "arms", "span all 2 dimensions"),
    "too few arms": (lambda: pa_env.Linear([[1.0, 0.0]], S, S), "arms", "span all 2 dimensions"),
    "s of another size": (lambda: pa_env.Linear(BALL, [0.5], S), "s has 1 dimensions", "2"),
    "flat arms": (lambda: pa_env.Linear([1.0, 0.0], S, S), "arms of shape (2,)", "(n_arms, dim)"),
    "NaN s": (lambda: pa_env.Linear(BALL, [np.nan, 0.0], S), "s = [nan, 0.0]", "finite"),
    "noise beyond float32": (lambda: pa_env.Linear(BALL, S, S, noise=1e39), "noise = 1e+39", "at most 1e+37"),
    "negative noise": (lambda: pa_env.Linear(BALL, S, S, noise=-1), "noise = -1", "at least 0"),
    "NaN noise": (lambda: pa_env.Linear(BALL, S, S, noise=np.nan), "noise = nan", "at least 0"),
    "noise in words": (lambda: pa_env.Linear(BALL, S, S, noise="0.5"), "noise = '0.5'", "at least 0"),
}
BAD_PARAMETERS = {
    "negative c0": ({"c0": -0.1}, "c0 = -0.1", "at least 0"),
    "NaN c0": ({"c0": np.nan}, "c0 = nan", "finite number at least 0"),
    "infinite c0": ({"c0": np.inf}, "c0 = inf", "finite number at least 0"),
    "c0 in words": ({"c0": "0.5"}, "c0 = '0.5' must be a finite number", "at least 0"),
    "c0 beyond floats": ({"c0": 10**400}, "c0 = 1000"),
    "unknown exploration": ({"exploration": "best"}, "exploration = 'best'", "uniform", "worst", "round-robin"),
    "negative exploration": ({"exploration": -1}, "exploration = -1", "at least 0"),
    "exploration between arms": ({"exploration": 1.5}, "exploration = 1.5", "integer"),
    "unknown ties": ({"ties": "first"}, "ties = 'first'", "lowest", "highest", "random", "largest-incentive"),
    "ties by number": ({"ties": 0}, "ties = 0", "lowest"),
    "NaN initial": ({"initial": np.nan}, "initial = nan", "finite"),
    "initial matrix": ({"initial": [[0.5]]}, "initial = [[0.5]]", "one for each arm"),
    "initial in words": ({"initial": "x"}, "initial = 'x'", "numbers"),
    "unknown parameter": ({"epsilon": 1}, "'epsilon'", "'exploratory'", "c0, exponent, exploration, ties, initial"),
}


@table(
    BAD_INSTANCES
    | {
        f"agent, {what}": (partial(pa_env.make_agent, "exploratory", **bad), *words)
        for what, (bad, *words) in BAD_PARAMETERS.items()
    }
)
def test_bad_instances_and_parameters_of_agents(bad: Callable[[], Any], words: list[str]) -> None:
    with refused(*words):
        bad()


def test_an_agent_has_only_its_own_parameters() -> None:
    with refused("'c0'", "'oracle'", "known: ties"):
        pa_env.make_agent("oracle", c0=1.0)
    with refused("agent = 'orcale'", "did you mean 'oracle'", *pa_env.agents()):
        pa_env.make_agent("orcale")


@pytest.mark.parametrize("c0", [1, np.float32(1), np.array(1.0)], ids=repr)
def test_c0_of_any_numeric_type(c0: Any) -> None:
    agent = pa_env.make_agent("exploratory", c0=c0)
    assert type(agent.c0) is float, "the kernel would be compiled anew, or not at all"
    assert agent == pa_env.make_agent("exploratory", c0=1.0)


# ----------------------------------------------------------------------------------------- reset

BAD_SEEDS = {
    "negative": (-1, "seed", "-1", "at least 0"),
    "a float": (1.0, "seed = 1.0", "must be an integer at least 0"),
    "a string": ("x", "seed", "'x'", "int"),
    "a number in words": ("7", "seed = '7'", "must be an integer at least 0"),
}
BAD_SEED_LISTS = {
    "too short": ([1], "seed", "1", "2 copies"),
    "too long": ([1, 2, 3], "seed", "3", "2 copies"),
    "one negative": ([1, -2], "seed", "-2", "at least 0"),
    "one float": ([1, 2.5], "seed", "2.5", "int"),
}


@in_turn(BAD_SEEDS | {"a list": ([1, 2], "seed", "[1, 2]", "int")}, SINGLE)
def test_bad_seed(interface: str, bad: Any, words: list[str]) -> None:
    env = open_interface(interface)
    with refused(*words, env=env):
        env.reset(seed=bad)


@in_turn(BAD_SEEDS | BAD_SEED_LISTS, ["batched follower"], always="batched principal")
def test_bad_list_of_seeds(interface: str, bad: Any, words: list[str]) -> None:
    env = open_interface(interface)
    with refused(*words, env=env):
        env.reset(seed=bad)


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_numpy_seed_is_an_int(interface: str) -> None:
    env, twin = open_interface(interface), open_interface(interface)
    env.reset(seed=np.int64(11))
    twin.reset(seed=11)
    assert_equal(rounds(env), rounds(twin))


def nonsense(rng: np.random.Generator) -> Any:
    return "nonsense"


def four_arms(rng: np.random.Generator) -> Any:
    return pa_env.IID(rng.random(4), rng.random(4))


def linear_arms(rng: np.random.Generator) -> Any:
    return pa_env.Linear(np.eye(3), [0.5] * 3, [0.5] * 3)


SIZES = ("instance has 4 arms", "n_arms = 3", "pass n_arms=4")
LINEAR = ("instance", "i.i.d.", "dim=3")
BAD_OPTIONS = {
    "unknown family": ("nope", "instance = 'nope'", *pa_env.families()),
    "a number": (3, "instance = 3", *pa_env.families()),
    "another number of arms": (four_arms(np.random.default_rng(0)), *SIZES),
    "a family of another size": ("ipa-k50", "instance has 50 arms", "n_arms = 3", "pass n_arms=50"),
    "linear": (linear_arms(np.random.default_rng(0)), *LINEAR),
    "a linear family": ("unit-ball", "instance = 'unit-ball'", "linear", "pass dim=3"),
    "a function for nonsense": (nonsense, "instance = 'nonsense'", "pa_env.IID", "pa_env.Linear"),
    "a function for another number of arms": (four_arms, *SIZES),
    "a function for linear arms": (linear_arms, *LINEAR),
}


@in_turn(BAD_OPTIONS, INTERFACES)
def test_bad_instance_of_one_episode(interface: str, bad: Any, words: list[str]) -> None:
    env = open_interface(interface)
    with refused(*words, env=env):
        env.reset(seed=1, options={"instance": bad})


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_bad_function_is_found_at_the_first_reset(interface: str) -> None:
    env = INTERFACES[interface](n_arms=K, instance=nonsense)
    with refused("instance = 'nonsense'", "pa_env.IID"):
        env.reset(seed=1)
    with refused("reset", error=ResetNeeded):
        env.step(good(env))


@pytest.mark.parametrize("interface", INTERFACES)
def test_iid_instance_in_a_linear_game_names_the_remedy(interface: str) -> None:
    env = open_interface(interface, instance="unit-ball")
    with refused("instance", "i.i.d.", "linear", env=env):
        env.reset(options={"instance": pa_env.IID([0.5] * 3, [0.5] * 3)})


BAD_MASKS = {
    "a list": ([True, False], "reset_mask", "[True, False]", "array of 2 booleans"),
    "integers": (np.array([1, 0]), "reset_mask", "[1, 0]", "2 booleans"),
    "too long": (np.ones(3, bool), "reset_mask", "[ True,  True,  True]", "2 booleans"),
    "nobody": (np.zeros(2, bool), "reset_mask", "[False, False]", "one of them True"),
    "a string": ("all", "reset_mask", "'all'", "2 booleans"),
}


@pytest.mark.parametrize("interface", ["batched principal", "batched follower"])
@table(BAD_MASKS)
def test_bad_mask(interface: str, bad: Any, words: list[str]) -> None:
    env = open_interface(interface)
    with refused(*words, env=env):
        env.reset(options={"reset_mask": bad})


# ----------------------------------------------------------------------------------------- users' own objects


class Mine:
    """An agent that answers ``odd`` to an offer above 3 on arm 0, and after ``good`` rounds believes ``beliefs``."""

    def __init__(self, odd: Any = 0, beliefs: Any = (0.0,) * K, good: int = 2) -> None:
        self.odd, self.beliefs, self.good = odd, beliefs, good

    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        self.rounds, self.means = 0, np.zeros(n_arms)

    def choose(self, incentives: Any) -> Any:
        return self.odd if incentives[0] > 3 else ARM

    def learn(self, arm: int, reward: float) -> None:
        self.rounds += 1
        if self.rounds >= self.good:
            self.means = self.beliefs


ODD_ANSWERS = {what: (bad, "Mine.choose(incentives) = ", *words) for what, (bad, _, *words) in BAD_ARMS.items()}
BAD_BELIEFS = {
    "too few": ([0.1, 0.2], "Mine.means = ", "[0.1, 0.2]", "3 finite numbers"),
    "a matrix": (np.zeros((1, 3)), "Mine.means = ", "[[0., 0., 0.]]", "3 finite numbers"),
    "NaN": ([0.1, 0.2, np.nan], "Mine.means = ", "nan", "3 finite numbers"),
    "strings": (["a"] * 3, "Mine.means = ['a', 'a', 'a']", "numbers"),
    "None": (None, "Mine.means = None", "numbers"),
}


@in_turn(ODD_ANSWERS, PRINCIPALS)
def test_own_agent_answers_nonsense(interface: str, bad: Any, words: list[str]) -> None:
    env = open_interface(interface, agent=Mine(odd=bad))
    with refused(*words, env=env):
        env.step(batch(env, [3.5, 0.0, 0.0]))


@in_turn(BAD_BELIEFS, ["Gymnasium principal", "batched principal"])
def test_own_agent_believes_nonsense(interface: str, bad: Any, words: list[str]) -> None:
    env = open_interface(interface, agent=Mine(beliefs=bad))
    before = pickle.dumps(env)
    with refused(*words):
        env.step(good(env))
    same = pickle.dumps(env) == before
    assert same, "something in the environment changed"


@in_turn(BAD_BELIEFS, FOLLOWERS, always="AEC principal")
def test_own_agent_believes_nonsense_where_it_is_seen(interface: str, bad: Any, words: list[str]) -> None:
    """The beliefs are part of an observation there: the round that spoils them is the one that raises."""
    env = open_interface(interface, agent=Mine(beliefs=bad, good=3))
    with refused(*words):
        env.step(good(env))


class Mute:
    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        """Begin."""

    def learn(self, arm: int, reward: float) -> None:
        """Learn."""


class Beliefless(Mute):
    def choose(self, incentives: Any) -> int:
        return 0


@pytest.mark.parametrize("interface", INTERFACES)
def test_own_agent_lacks_a_method(interface: str) -> None:
    with refused("agent = ", "Mute", "it lacks choose", *pa_env.agents()):
        INTERFACES[interface](agent=Mute())


@pytest.mark.parametrize("interface", INTERFACES)
def test_own_agent_lacks_means(interface: str) -> None:
    with refused("Beliefless has no means", "finite numbers"):
        open_interface(interface, agent=Beliefless())


class Offers:
    """A principal that offers ``odd`` in round ``when``."""

    def __init__(self, odd: Any, when: int) -> None:
        self.odd, self.when = odd, when

    def reset(self, seed: int | None = None) -> None:
        self.t = 0

    def offer(self) -> Any:
        return self.odd if self.t == self.when else OFFER

    def observe(self, arm: int, reward: float) -> None:
        self.t += 1


ODD_OFFERS = {
    what: (bad, *("offer" if word.startswith("incentives") else word for word in words))
    for what, (bad, *words) in BAD_OFFERS.items()
} | {"one in a list": ([0.5], "offer", "(1,)", "one number for each arm", "3")}
SEATS = [interface for interface in FOLLOWERS if interface != "AEC agent"]


@in_turn(ODD_OFFERS, ["batched follower"], always="Gymnasium follower")
@pytest.mark.parametrize("kind", ["object", "function"])
def test_bad_offer_to_a_follower(interface: str, kind: str, bad: Any, words: list[str]) -> None:
    principal = Offers(bad, when=0) if kind == "object" else lambda observation: bad
    env = FOLLOWERS[interface](n_arms=K, horizon=T, principal=principal)
    with refused(*words):
        env.reset(seed=1)


@pytest.mark.parametrize("when", [0, 3])
@pytest.mark.parametrize("interface", SEATS)
def test_no_round_is_played_on_an_offer_that_was_never_made(interface: str, when: int) -> None:
    env = FOLLOWERS[interface](n_arms=K, horizon=T, principal=Offers([0.1, 0.2, -1.0], when))

    def play() -> None:
        env.reset(seed=1)
        for _ in range(when):
            env.step(batch(env, ARM))

    with refused("Offers.offer()["):
        play()
    with pytest.raises((ValueError, ResetNeeded)):
        env.step(batch(env, ARM))
    assert env.game.arrays.state["t"].max() <= when


@pytest.mark.parametrize("interface", SEATS)
@pytest.mark.parametrize("principal", [3, OFFER, Mute()], ids=["a number", "an offer", "an object"])
def test_bad_principal(interface: str, principal: Any) -> None:
    with refused(f"principal = {principal!r}", "reset, offer and observe", "function", "None"):
        FOLLOWERS[interface](principal=principal)


@pytest.mark.parametrize("principal", ["zero", Mute])
def test_names_of_principals_need_baselines(principal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pa_env.envs.principal_driver.CONVERSIONS", [])
    with refused("principal = ", "import baselines"):
        FollowerVectorEnv(num_envs=1, principal=principal)


def test_a_principal_offers_once_a_round() -> None:
    """A partial reset asks only those that begin anew."""

    asked = []

    class Counting(Offers):
        def offer(self) -> Any:
            asked.append(id(self))
            return OFFER

    env = FollowerVectorEnv(n_arms=K, horizon=T, principal=Counting(None, -1), **BATCHED)
    env.reset(seed=1)
    env.reset(seed=1, options={"reset_mask": np.array([True, False])})
    assert len(asked) == 3
    assert asked[2] == asked[0]


# ------------------------------------------------------------------------- calls that compiled code would not survive


def begun(**settings: Any) -> Game:
    game = Game(n_arms=K, horizon=T, **settings)
    game.begin([1] * game.copies)
    return game


def looks_for_memory(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    offer[0] = memory[5]
    return 0


def stop_with(entries: Any) -> StopRule:
    stop = StopRule(0, 1.0, 1.0)
    stop.entries = entries
    return stop


def episodes(game: Game, memories: Any, marks: Any) -> Any:
    return game.play_episodes(compile_rule(looks_for_memory), memories, marks)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda game: game.play(np.zeros((2, K))), "incentives has shape (2, 3)"),
        (lambda game: game.play(np.zeros(K + 1)), "incentives has shape (4,)"),
        (lambda game: game.play(OFFER, arms=np.array([K])), "arms = 3 must be an integer from 0 to 2, or NO_ARM = -1"),
        (lambda game: game.play(OFFER, arms=np.array([-2])), "arms = -2"),
        (lambda game: game.play(OFFER, arms=np.array([0, 0])), "arms = array([0, 0]) must be an array of 1 integers"),
        (lambda game: game.play(OFFER, arms=np.array([0.5])), "must be an array of 1 integers"),
        (lambda game: game.play(OFFER, which=np.array([1])), "which = array([1]) must be an array of 1 booleans"),
        (lambda game: game.play(OFFER, which=np.array([True, True])), "must be an array of 1 booleans"),
        (lambda game: game.answer(np.zeros(2)), "incentives has shape (2,)"),
        (lambda game: game.advance(np.zeros(2), 5), "incentives has shape (2,)"),
        (lambda game: game.hold(OFFER, 2.9), "rounds = 2.9 must be an integer at least 1"),
        (lambda game: game.hold(OFFER, True), "rounds = True"),
        (lambda game: game.hold(OFFER, 10**400), "rounds = 1000"),
        (lambda game: game.advance(OFFER, 2.9), "rounds = 2.9 must be an integer at least 1"),
        (lambda game: game.advance(OFFER, -1), "rounds = -1 must be an integer at least 1"),
        (lambda game: game.hold(OFFER, 5, stop_with(np.zeros(12)[::2])), "and its original entries"),
        (lambda game: game.hold(OFFER, 5, stop_with(np.zeros(2))), "and its original entries"),
        (lambda game: game.hold(OFFER, 5, stop_with(np.full(6, np.nan))), "and its original entries"),
        (lambda game: game.hold(OFFER, 5, stop_with(np.frombuffer(bytes(48)))), "and its original entries"),
        (lambda game: game.hold(OFFER, 5, StopRule(K, 1.0, 1.0)), "must have a target among 3 arms"),
        (lambda game: game.follow(compile_rule(looks_for_memory), np.zeros(6), 5, (99, 0.0)), "the arm of last = 99"),
        (lambda game: game.agent_view(np.zeros(2)), "incentives has shape (2,)"),
        (lambda game: game.begin([1, 2]), "seeds = [1, 2] must be a list of 1"),
        (lambda game: game.begin(7), "seeds = 7 must be a list of 1"),
        (lambda game: game.begin(which=np.ones(2, np.bool_)), "must be an array of 1 booleans"),
        (lambda game: episodes(game, np.zeros((2, 6)), np.array([5])), "with 1 or 1 rows"),
        (lambda game: episodes(game, np.zeros((1, 12))[:, ::2], np.array([5])), "a contiguous array of float64"),
        (lambda game: episodes(game, np.zeros((1, 6)), np.array([5, 5])), "marks = array([5, 5]) must be"),
        (lambda game: episodes(game, np.zeros((1, 6)), np.array([10**6])), "integers from 1 to horizon"),
        (lambda game: episodes(game, np.zeros((1, 6)), np.array([5.0])), "marks = array([5.]) must be"),
        (lambda game: game.follow(looks_for_memory, np.zeros(9), 5), "must be compiled"),
        (lambda game: game.follow(compile_rule(looks_for_memory), np.zeros(3), 5), "memory of 3 numbers is too short"),
        (lambda game: game.follow(compile_rule(looks_for_memory), np.zeros(12)[::2], 5), "contiguous"),
        (lambda game: game.follow(compile_rule(looks_for_memory), [0.0] * 6, 5), "must be a vector of float64"),
    ],
)
def test_calls_that_would_leave_the_arrays_are_refused(call: Callable[[Game], Any], message: str) -> None:
    game = begun()
    with pytest.raises((TypeError, ValueError)) as caught:
        call(game)
    assert message in str(caught.value)
    assert game.rounds_played == 0


def test_whole_stretches_are_for_one_copy() -> None:
    game = begun(copies=2)
    for call in (lambda: game.hold(np.zeros((2, K)), 5), lambda: game.advance(np.zeros((2, K)), 5)):
        with pytest.raises(ValueError, match="copies = 2"):
            call()


def test_a_rule_with_enough_memory_is_followed() -> None:
    assert begun().follow(compile_rule(looks_for_memory), np.zeros(6), 5).rounds == 5


@pytest.mark.parametrize("options", [["instance"], 7, "instance"], ids=repr)
@pytest.mark.parametrize("interface", [interface for interface in INTERFACES if interface != "hold"])
def test_options_are_a_dictionary(interface: str, options: Any) -> None:
    env = open_interface(interface)
    with refused(f"options = {options!r} must be a dictionary", env=env):
        env.reset(options=options)


@pytest.mark.parametrize("seed", [10**400, np.array(1), np.int64(1)])
def test_seeds_of_any_size_and_integer_type(seed: Any) -> None:
    """A 0-dimensional array is an integer; copies count up from it."""
    env, envs = PrincipalEnv(), PrincipalVectorEnv(2)
    env.reset(seed=seed)
    envs.reset(seed=seed)
    assert env.game.instance().mu.tolist() == envs.game.instance(0).mu.tolist() != envs.game.instance(1).mu.tolist()


def test_threads_neither_hang_nor_spoil_a_batched_environment() -> None:
    """An environment is for one thread. Two of them play wrong rounds, but both end, and the next reset mends it."""
    envs, fresh = (PrincipalVectorEnv(64, n_arms=K, horizon=T) for _ in range(2))
    envs.reset(seed=0)

    def play() -> None:
        for _ in range(1000):
            with suppress(Exception):
                envs.step(np.zeros((64, K)))

    threads = [threading.Thread(target=play, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert_equal(envs.reset(seed=1), fresh.reset(seed=1))
    for _ in range(T + 2):
        assert_equal(envs.step(np.ones((64, K))), fresh.step(np.ones((64, K))))


@pytest.mark.parametrize(
    ("make", "extra"),
    [
        (PrincipalEnv, {"observation", "render_mode"}),
        (FollowerEnv, {"principal", "render_mode"}),
        (PrincipalVectorEnv, {"observation", "render_mode", "autoreset_mode"}),
        (FollowerVectorEnv, {"principal", "render_mode", "autoreset_mode"}),
        (principal_agent_v0.env, {"observation", "render_mode"}),
    ],
)
def test_an_unknown_keyword_is_answered_with_all_known_ones(make: Any, extra: set[str]) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'arms'") as caught:
        make(arms=3)
    listed = set(str(caught.value).partition("known: ")[2].split(", "))
    assert listed == {"n_arms", "horizon", "agent", "instance", "max_incentive", "dim"} | extra
