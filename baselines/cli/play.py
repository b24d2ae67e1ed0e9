"""Play the game yourself in the terminal, in either seat; the other side is scripted.

Rounds are those of ``PrincipalAgent-v0`` and ``PrincipalAgentFollower-v0``. Afterwards you see what others would have
earned in your place on the same random numbers.
"""

from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

import pa_env  # noqa: F401  (registers the environments)
from baselines.registry import attach, make, resolve_agent, resolve_instance
from baselines.simulation import simulate
from pa_env.checks import arm_index, known, short
from pa_env.instances import InstanceLike, source
from pa_env.kernel.layout import AGENT_BLOCKS, BLOCKS, OVERALL
from pa_env.scripted_agents import ScriptedAgent

OTHERS = ("oracle", "ppo", "particle", "profit-target", "zero")  # compared with you; the first is privileged


class ArmFacts(NamedTuple):
    """An arm as the principal knows it; None stands for what only a play shows."""

    plays: int
    mean: float | None  # of the rewards X
    refused: float  # the highest incentive
    accepted: float | None  # the lowest incentive


class PrincipalSeat:
    """You offer, a scripted agent answers."""

    help = """\
You are the principal. In each round you offer incentives, and the agent plays
an arm. You get your reward of that arm and pay its incentive. The agent gets
the incentive and a reward of its own. You see neither its beliefs nor its
rewards. {about}
  2 0.4        0.4 on arm 2, nothing on the others
  0 0.4 0.1    a number for each arm, if there are three or more
  Enter        no incentive
  ?  this text    q  stop"""

    def __init__(self, n_arms: int, horizon: int, instance: InstanceLike, agent: str, seed: int) -> None:
        self.n_arms, self.horizon, self.instance, self.agent, self.seed = n_arms, horizon, instance, agent, seed
        opponent = resolve_agent(agent)
        self.about = f"The agent {opponent.declaration.about}." if isinstance(opponent, ScriptedAgent) else ""
        self.help = PrincipalSeat.help.format(about=self.about)
        self.env: Any = gym.make("PrincipalAgent-v0", n_arms=n_arms, horizon=horizon, agent=opponent, instance=instance)

    def view(self, observation: NDArray[np.float32]) -> Table:
        """Plays and mean reward of each arm, and the incentives that were not enough and enough."""
        table = Table("arm", "plays", "mean reward", "refused", "accepted")
        for arm, facts in enumerate(self.known(observation)):
            mean, accepted = ("–" if value is None else f"{value:.2f}" for value in (facts.mean, facts.accepted))
            table.add_row(str(arm), str(facts.plays), mean, f"{facts.refused:.2f}", accepted)
        return table

    def known(self, observation: NDArray[np.float32]) -> list[ArmFacts]:
        """Return the facts of each arm that the principal knows."""
        _, means, share, refused, accepted, _ = observation[:-OVERALL].reshape(BLOCKS, self.n_arms).tolist()
        plays = [round(part * self.horizon) for part in share]
        return [
            ArmFacts(n, means[a] if n else None, refused[a], accepted[a] if n else None) for a, n in enumerate(plays)
        ]

    def read(self, text: str) -> NDArray[np.float64]:
        """Incentives (n_arms,)."""
        try:
            numbers = [float(word) for word in text.split()]
        except ValueError:
            raise ValueError(f"{short(text)} must be numbers: an arm and its incentive, or one for each arm") from None
        offer = np.zeros(self.n_arms)
        if len(numbers) == 2:
            if numbers[0] not in range(self.n_arms):
                raise ValueError(f"arm = {numbers[0]:g} must be an integer from 0 to {self.n_arms - 1}")
            offer[int(numbers[0])] = numbers[1]
        elif len(numbers) == self.n_arms:
            offer[:] = numbers
        elif numbers:
            raise ValueError(
                f"{short(text)} must be two numbers, an arm and its incentive, or {self.n_arms}, one for each arm"
            )
        self.env.get_wrapper_attr("game").check_offers(offer[None])
        return offer

    def outcome(self, action: NDArray[np.float64], reward: float, info: dict[str, Any]) -> str:
        """Return a sentence with arm, reward and payment."""
        paid = action[info["arm"]]
        return f"The agent played arm {info['arm']}: reward {reward + paid:.2f}, paid {paid:.2f}."

    def others(self, rounds: int) -> dict[str, float]:
        """Utility of other principals."""
        notes = {OTHERS[0]: " (is shown the agent's beliefs and the true means)"}
        return {name + notes.get(name, ""): curve[-1] for name, curve in self.curves(rounds).items()}

    def curves(self, rounds: int) -> dict[str, list[float]]:
        """Utility of other principals after each of the first rounds, on the same draws."""
        marks, curves = range(1, rounds + 1), {}
        for name in OTHERS:
            principal = make(name, n_arms=self.n_arms, horizon=self.horizon)
            run = simulate(principal, self.instance, resolve_agent(self.agent), seed=self.seed, checkpoints=marks)
            curves[name] = run.utility.tolist()
        return curves


class AgentSeat:
    """A scripted principal offers, you answer."""

    help = """\
You are the agent. In each round the principal offers incentives, and you play
an arm. You get its reward and its incentive.
  2    play arm 2
  ?  this text    q  stop"""

    def __init__(self, n_arms: int, horizon: int, instance: InstanceLike, principal: str, seed: int) -> None:
        self.n_arms, self.horizon, self.seed = n_arms, horizon, seed
        opponent = make(principal, n_arms=n_arms, horizon=horizon)
        settings: Any = {"n_arms": n_arms, "horizon": horizon, "instance": instance, "max_incentive": 1000.0}
        self.env: Any = gym.make("PrincipalAgentFollower-v0", principal=opponent, **settings)
        attach(opponent, self.env.get_wrapper_attr("game"), type(opponent))

    def view(self, observation: NDArray[np.float32]) -> Table:
        """The offer, and plays and mean reward of each arm."""
        offer, means, share = observation[:-1].reshape(AGENT_BLOCKS, self.n_arms)
        table = Table("arm", "incentive", "plays", "mean reward")
        for arm, plays in enumerate((share * self.horizon).round().astype(int)):
            table.add_row(str(arm), f"{offer[arm]:.3f}", str(plays), f"{means[arm]:.2f}" if plays else "–")
        return table

    def read(self, text: str) -> int:
        """An arm."""
        if not text.isdecimal():
            raise ValueError(f"{short(text)} must be an arm, an integer from 0 to {self.n_arms - 1}")
        return arm_index("arm", int(text), self.n_arms)

    def outcome(self, action: int, reward: float, info: dict[str, Any]) -> str:
        """Return a sentence with your reward and the utility of the principal."""
        return f"You got {reward:.2f} for arm {action}; the principal got {info['utility']:.2f}."

    def others(self, rounds: int) -> dict[str, float]:
        """Reward of an agent that always plays the highest mean + incentive."""
        observation, _ = self.env.reset(seed=self.seed)
        earned = 0.0
        for _ in range(rounds):
            offer, means, _ = observation[:-1].reshape(AGENT_BLOCKS, self.n_arms)
            observation, reward, *_ = self.env.step(int((offer + means).argmax()))
            earned += reward
        return {"a greedy agent": earned}


Seat = PrincipalSeat | AgentSeat


def take_seat(seat: str, opponent: str, n_arms: int | None, horizon: int, instance: str, seed: int) -> Seat:
    """Return a seat at a new table.

    Args:
        seat: your own: principal or agent.
        opponent: spec of the other player.
        n_arms: number of arms; None: the instance's own, or 3.
        horizon: rounds.
        instance: spec of the instances.
        seed: of the game.
    """
    known("seat", seat, ("principal", "agent"))
    given = resolve_instance(instance)
    sized = source(given, n_arms)
    K = sized.n_arms if n_arms or sized.fixed is not None else 3
    return (PrincipalSeat if seat == "principal" else AgentSeat)(K, horizon, given, opponent, seed)


def play(table: Seat) -> None:
    """Play an episode in the terminal."""
    console, horizon = Console(highlight=False), table.horizon
    console.print(Text(table.help))
    rounds, earned = 0, 0.0
    observation, _ = table.env.reset(seed=table.seed)
    try:
        while rounds < horizon:
            console.print(table.view(observation))
            action, (observation, reward, _, _, info) = _turn(console, table, f"round {rounds + 1} of {horizon}> ")
            rounds, earned = rounds + 1, earned + reward
            console.print(Text(f"{table.outcome(action, reward, info)} Your total: {earned:.2f}.\n"))
    except (EOFError, KeyboardInterrupt):
        console.print("\nYou stopped.")
    if rounds:
        _compare(console, table, rounds, earned)


def _turn(console: Console, seat: Seat, prompt: str) -> tuple[Any, tuple[Any, ...]]:
    """Ask until a round is played: the action and what the environment returned. EOFError if the player stops."""
    while True:
        text = console.input(Text(prompt)).strip()
        if text == "q":
            raise EOFError
        if text == "?":
            console.print(Text(seat.help))
            continue
        try:
            action = seat.read(text)
        except ValueError as error:
            console.print(Text(f"{error} (? for help)"))
        else:
            return action, seat.env.step(action)


def _compare(console: Console, seat: Seat, rounds: int, earned: float) -> None:
    """Print the means of the arms, and the earnings of others in your place."""
    instance = seat.env.unwrapped.game.instance()
    truth = Table("arm", "mean reward of the principal", "of the agent", title="The truth")
    for arm, (theta, mu) in enumerate(zip(instance.theta, instance.mu, strict=True)):
        truth.add_row(str(arm), f"{theta:.2f}", f"{mu:.2f}")
    console.print(truth)
    table = Table("who", "earned", title=f"After round {rounds}, with the same random draws")
    for who, total in {"you": earned, **seat.others(rounds)}.items():
        table.add_row(who, f"{total:.2f}")
    console.print(table)
