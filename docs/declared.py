"""Parts of the pages that are made from the code's own declarations: spaces, observations, arguments, parameters.

Every public function returns Markdown for one name. The directive ``{declared}`` of :mod:`site_parts` shows it::

    ```{declared} observation PrincipalAgent-v0
    ```
"""

import inspect
import re
import textwrap
from collections.abc import Iterable
from enum import IntEnum
from typing import Any

import gymnasium as gym

import pa_env
from baselines.registry import PRINCIPALS
from pa_env import principal_agent_v0, wrappers
from pa_env.envs import scalar, spaces
from pa_env.game import Game, GameSettings
from pa_env.instances import FAMILIES
from pa_env.kernel.layout import INFO, OBSERVATIONS, AgentBlock, Score, SummaryBlock, SummaryNumber
from pa_env.scripted_agents import AGENTS, ScriptedAgent

GYMNASIUM = ("PrincipalAgent-v0", "PrincipalAgentLinear-v0", "PrincipalAgentFollower-v0")
PETTINGZOO = ("principal_agent_v0", "vector_env")
OWN_ARGUMENTS = {"observation", "render_mode", "autoreset_mode"}  # beside those of the game


def table(head: tuple[str, ...], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", r"\|") for cell in line) + " |" for line in lines)


def comments(enumeration: type[IntEnum], **others: str) -> dict[str, str]:
    """What the source says beside each member of an enumeration.

    Args:
        enumeration: the enumeration.
        **others: what to say of members instead, by name.
    """
    source = inspect.getsource(enumeration)
    said = dict(re.findall(r"^    (\w+) = \d+  # (.*)$", source, re.MULTILINE)) | others
    missing = [name for name in enumeration.__members__ if name not in said]
    if missing:
        raise LookupError(f"{enumeration.__name__}: {', '.join(missing)} must have a comment that says what it is")
    return {name: said[name] for name in enumeration.__members__}


def code(value: object) -> str:
    """Text that looks like code."""
    return f"`{value}`"


# ------------------------------------------------------------------------------------------------ environments


def make(name: str) -> Any:
    """The environment of a name, with its default arguments."""
    if name in GYMNASIUM:
        return gym.make(name).unwrapped
    return {"principal_agent_v0": principal_agent_v0.env, "vector_env": principal_agent_v0.vector_env}[name]()


def overview(name: str) -> str:
    """The summary at the top of an environment's page."""
    env = make(name)
    if name in GYMNASIUM:
        rows = {
            "make one": f'gym.make("{name}")',
            "make many": f'gym.make_vec("{name}", num_envs=64)',
            "action space": env.action_space,
            "observation space": f"Box(..., {env.observation_space.shape}, float32)",
        }
    else:
        seen, taken = (
            (env.observation_spaces, env.action_spaces)
            if name == "principal_agent_v0"
            else (env.single_observation_spaces, env.single_action_spaces)
        )
        rows = {"make one": f"principal_agent_v0.{'env' if name == 'principal_agent_v0' else name}()"}
        rows |= {f"action space of {player}": space for player, space in taken.items()}
        rows |= {
            f"observation space of {player}": f"Box(..., {space.shape}, float32)" for player, space in seen.items()
        }
    return table(("", "with the default arguments"), ((what, code(value)) for what, value in rows.items()))


def _interval(box: gym.spaces.Box, where: slice) -> str:
    low, high = float(box.low[where].min()), float(box.high[where].max())
    if high >= spaces.FAR:
        return "any float32"
    return f"[{low:g}, {high:.4g}]"


def _place(position: int, more: int = 0) -> str:
    """An index that depends on K: that many times K, plus some more."""
    parts = ["K" if position == 1 else f"{position}K"] if position else []
    parts += [str(more)] if more or not parts else []
    return " + ".join(parts).replace("+ -", "- ")


def observation(name: str, mode: str = "summary") -> str:
    """The numbers of an observation, index by index, in a game with K = 5 arms and T = 1000 rounds.

    Args:
        name: of an environment, or ``agent_0``.
        mode: of the principal's observation.
    """
    linear = {"instance": "unit-ball"} if name == "PrincipalAgentLinear-v0" else {}
    game = Game(n_arms=5, horizon=1000, **linear)
    blocks: tuple[IntEnum, ...]
    if name in ("PrincipalAgentFollower-v0", "agent_0"):
        box, blocks = spaces.agent_observations(game), tuple(AgentBlock)
        said = comments(AgentBlock, OFFER="the offer to be answered", PLAY_SHARE="plays / horizon")
        overall = {"TIME": "rounds played / horizon"}
    else:
        box, blocks, said = spaces.principal_observations(game, mode), OBSERVATIONS[mode], comments(SummaryBlock)
        overall = comments(SummaryNumber)
        if mode == "learning":
            said |= {
                "PLAY_SHARE": "log(1 + plays) / 4",
                "ACCEPTED": "smallest accepted incentive; for an arm never played, .3 above its largest refused one",
            }
    rows = []
    for i, block in enumerate(blocks):
        index = f"{_place(i)} to {_place(i + 1, -1)}", f"{5 * i} to {5 * i + 4}"
        rows.append((*index, said[block.name], _interval(box, slice(5 * i, 5 * i + 5))))
    for j, about in enumerate(overall.values()):
        i = 5 * len(blocks) + j
        rows.append((_place(len(blocks), j), str(i), about, _interval(box, slice(i, i + 1))))
    if i + 1 != box.shape[0]:
        raise LookupError(f"{name}: {box.shape[0]} numbers are observed, but {i + 1} are described")
    return table(("index", "if K = 5", "meaning", "range"), rows)


def info(name: str) -> str:
    """The keys of ``info``, what they are, and who may know them."""
    rows = re.findall(r"^\| ``(\w+)`` \| (.*?) \| (.*?) \|$", scalar.__doc__ or "", re.MULTILINE)
    if {key for key, _, _ in rows} != set(INFO):
        raise LookupError(f"pa_env.envs.scalar must describe the keys of an info: {', '.join(INFO)}")
    if name == "PrincipalAgentLinear-v0":
        rows.append(("arms", "after a reset: the arms as vectors, (n_arms, dim)", "both"))
    if name == "principal_agent_v0":
        rows.append(("scripted_arm", "of `agent_0` after an offer: the arm that `agent=` would play", "the agent"))
    return table(("key", "what it is", "who may know it"), ((code(key), what, who) for key, what, who in rows))


def arguments(name: str) -> str:
    """The keyword arguments of an environment."""
    text = (pa_env.__doc__ or "").split("Keyword arguments, the same everywhere:")[1]
    found = re.findall(r"^- ``(.+?)``: (.*?)(?=^- |\Z)", text, re.MULTILINE | re.DOTALL)
    names = {each.split("=")[0] for each, _ in found}
    if names != set(GameSettings.__annotations__) | OWN_ARGUMENTS:
        raise LookupError(f"pa_env must describe every keyword argument, and describes {', '.join(sorted(names))}")
    rows = [(argument, " ".join(about.split())) for argument, about in found]
    if name in GYMNASIUM:
        given = gym.registry[name].kwargs
        rows = [
            (f"{key}={given[key]!r}" if (key := argument.split("=")[0]) in given else argument, about)
            for argument, about in rows
        ]
    if name == "PrincipalAgentFollower-v0":
        rows = [row for row in rows if not row[0].startswith("observation")]
        about = " ".join((scalar.FollowerEnv.__doc__ or "").split("principal: ")[1].split("render_mode")[0].split())
        rows.insert(3, ("principal=None", about))
    if name in PETTINGZOO:
        rows = [row for row in rows if not row[0].startswith("autoreset_mode")]
    if name == "vector_env":
        rows = [("num_envs=1", "number of copies N."), *(row for row in rows if not row[0].startswith("render_mode"))]
    return table(("argument", "meaning"), ((code(argument), _roles_to_code(about)) for argument, about in rows))


def _roles_to_code(text: str) -> str:
    """Docstring markup as Markdown: names of the package become code."""
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`")


# ------------------------------------------------------------------------------------------------ names


def agent(name: str) -> str:
    """The parameters of a scripted agent, with their defaults."""
    declared = AGENTS[name]
    kinds = {"needs linear rewards": declared.linear_only, "i.i.d. rewards only": declared.iid_only}
    facts = "; ".join(text for text, holds in kinds.items() if holds)
    lead = f"It {declared.about}{f' ({facts})' if facts else ''}.\n\n"
    if not declared.parameters:
        return lead + "It has no parameters."
    about = _arguments_of(ScriptedAgent)
    rows = ((code(key), code(repr(default)), about[key]) for key, default in declared.parameters.items())
    return lead + table(("parameter", "default", "meaning"), rows)


def family(name: str) -> str:
    """What a family of instances is, in a line."""
    about = FAMILIES[name].about
    return f"{about[0].upper()}{about[1:]}."


def wrapper(name: str) -> str:
    """The action space of a wrapper around the default environment, and its documentation."""
    made = getattr(wrappers, name)
    space = made(gym.make("PrincipalAgent-v0")).action_space
    return f"Actions around the default environment: `{space}`.\n\n{_documented('function', f'pa_env.wrappers.{name}')}"


def principal(name: str) -> str:
    """The documentation of a principal's class."""
    made = PRINCIPALS[name]
    lead = ""
    if made.privileged:
        lead = "**Privileged**: it is shown what a principal may not know. It is a yardstick, and is never ranked.\n\n"
    if made.stand_in:
        lead = "**A stand-in**: it takes the place of a published algorithm whose details are not known to us.\n\n"
    return lead + _documented("class", f"{made.__module__}.{made.__name__}")


def _documented(kind: str, path: str) -> str:
    """The docstring of a class or function, as Sphinx shows it."""
    return f"```{{eval-rst}}\n.. auto{kind}:: {path}\n```"


def score(name: str) -> str:
    """What a score is, as declared."""
    said = comments(Score)[name.upper()]
    return f"*In short:* {said}."


def _arguments_of(made: Any) -> dict[str, str]:
    """The Args section of a docstring, by name."""
    text = inspect.cleandoc(made.__doc__).split("Args:\n")[1]
    found = re.findall(r"^(\w+): (.*?)(?=^\w+: |\Z)", textwrap.dedent(text), re.MULTILINE | re.DOTALL)
    return {name: _roles_to_code(" ".join(about.split())) for name, about in found}
