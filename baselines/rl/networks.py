"""A policy that treats arms alike, for Stable-Baselines3.

An observation is field-major: ``fields`` blocks of n_arms numbers, then ``overall`` numbers (the game's summary has 6
and 2). Actions are ``overall_actions`` numbers about no arm, then equally many about each arm in turn: none and 5 for
the logits of ``ForLearning``'s Discrete(5 K), 2 and 1 for a Box of 2 + K numbers. When arms are relabelled, the actions
about them move with them, so nothing has to be learned once for each arm.

Networks are small: most of the time of training goes to rollouts and their updates.
"""

import math
from typing import Any

import gymnasium as gym
import torch
from gymnasium.spaces import Box, Discrete
from stable_baselines3.common.distributions import DiagGaussianDistribution, Distribution
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn
from torch.nn.functional import linear

from pa_env.kernel.layout import BLOCKS, OVERALL

Codes = tuple[Tensor, Tensor]  # of each arm (n_arms, batch, width), and of all arms (batch, width)


class SetBody(nn.Module):
    """Maps an observation to a code of ``width`` numbers for each arm, and one for all arms.

    An arm's code is a perceptron of its fields and the overall numbers. The code of all is one of the mean and the
    maximum of the arms' codes and of the overall numbers. A layer's input is never put together: each part of it has
    its columns of the weights, and what all arms share is multiplied once. The number of arms is that of the
    observations.

    Args:
        fields: blocks that stand first in an observation.
        overall: numbers that follow them.
        width: of the codes.
        privileged: blocks that stand last.
        sees_privileged: whether the codes depend on them.
    """

    def __init__(
        self, fields: int, overall: int, width: int, privileged: int = 0, sees_privileged: bool = False
    ) -> None:
        super().__init__()
        self.fields, self.overall, self.width, self.privileged = fields, overall, width, privileged
        seen = fields + overall + (privileged if sees_privileged else 0)
        self.arm_in, self.arm_out = nn.Linear(seen, width), nn.Linear(width, width)
        self.together = nn.Linear(2 * width + overall, width)

    def forward(self, observations: Tensor) -> Codes:
        """Return the codes, ReLU at every layer."""
        n_arms = (observations.shape[1] - self.overall) // (self.fields + self.privileged)
        first, end = self.fields * n_arms, self.fields * n_arms + self.overall
        overall = observations[:, first:end]
        of_arm, of_all, of_privileged = self.arm_in.weight.tensor_split((self.fields, self.fields + self.overall), 1)
        inputs = linear(by_arm(observations[:, :first], n_arms), of_arm)
        if of_privileged.shape[1]:
            inputs = inputs + linear(by_arm(observations[:, end:], n_arms), of_privileged)
        codes = torch.relu(self.arm_out(torch.relu(inputs + linear(overall, of_all, self.arm_in.bias))))
        of_mean, of_max, of_all = self.together.weight.tensor_split((self.width, 2 * self.width), 1)
        pooled = linear(codes.mean(dim=0), of_mean) + linear(codes.amax(dim=0), of_max)
        return codes, torch.relu(pooled + linear(overall, of_all, self.together.bias))


def by_arm(blocks: Tensor, n_arms: int) -> Tensor:
    """Blocks of n_arms numbers as (n_arms, batch, blocks)."""
    return blocks.reshape(len(blocks), -1, n_arms).permute(2, 0, 1)


class SetHead(nn.Module):
    """Maps codes to actions: ``overall`` numbers from the code of all, then ``each`` numbers for each arm in turn.

    The numbers of an arm are linear in its code and the code of all; if ``deep``, one more layer comes before.
    """

    def __init__(self, width: int, overall: int, each: int, deep: bool = False) -> None:
        super().__init__()
        self.all = nn.Linear(width, overall) if overall else None
        self.mix = nn.Linear(2 * width, width) if deep else None
        self.arm = nn.Linear(width if deep else 2 * width, each)
        for parameter in self.parameters():
            nn.init.zeros_(parameter)
        if self.mix is not None:
            nn.init.orthogonal_(self.mix.weight, math.sqrt(2.0))  # as all hidden layers of Stable-Baselines3

    def forward(self, codes: Codes) -> Tensor:
        """Return the actions (batch, overall + each * n_arms)."""
        arms, together = codes
        layer = self.arm if self.mix is None else self.mix
        of_arm, of_all = layer.weight.chunk(2, dim=1)
        numbers = linear(arms, of_arm) + linear(together, of_all, layer.bias)
        if self.mix is not None:
            numbers = self.arm(torch.relu(numbers))
        numbers = numbers.transpose(0, 1).flatten(1)
        return numbers if self.all is None else torch.cat([self.all(together), numbers], dim=1)


class SetBodies(MlpExtractor):
    """A body for the actor and another for the critic: an "MLP extractor" in the words of Stable-Baselines3."""

    def __init__(self, actor: SetBody, critic: SetBody) -> None:
        super().__init__(actor.width, [], nn.ReLU)
        self.actor, self.critic = actor, critic

    def forward_actor(self, features: Tensor) -> Any:
        """Return the actor's codes."""
        return self.actor(features)

    def forward_critic(self, features: Tensor) -> Any:
        """Return the critic's code of all arms."""
        return self.critic(features)[1]


class SetActorCritic(ActorCriticPolicy):
    """A policy of arms as a set: a code for each and one for all of them (:class:`SetBody`), then actions.

    All arms share weights, so a policy for K arms loads into one for any other number. Its actions start at zero, and
    the standard deviations of continuous ones are the same for all arms.

    Args:
        observation_space: of every policy of Stable-Baselines3, as the next two.
        action_space: a Box of one dimension, or Discrete.
        lr_schedule: the learning rate by the share of training that is left.
        n_arms: None: what the observation has room for. Observations of other numbers of arms are taken too, if
            actions are discrete.
        width: of the codes.
        fields: blocks of n_arms numbers that stand first in an observation.
        overall: numbers that follow them.
        overall_actions: actions about no arm; None: what is left when arms have equally many.
        privileged: blocks of n_arms numbers that stand last in an observation, for the critic alone. The actor plays
            without them.
        deep: whether the actor has one more layer, which mixes each arm's code with the code of all.
        **options: of every policy of Stable-Baselines3.
    """

    def __init__(
        self,
        observation_space: gym.Space[Any],
        action_space: gym.Space[Any],
        lr_schedule: Schedule,
        n_arms: int | None = None,
        width: int = 16,
        fields: int = BLOCKS,
        overall: int = OVERALL,
        overall_actions: int | None = None,
        privileged: int = 0,
        deep: bool = False,
        **options: Any,
    ) -> None:
        numbers = (observation_space.shape or (0,))[0] - overall
        arms, left = divmod(numbers, fields + privileged)
        if left or arms < 1 or n_arms not in (None, arms):
            raise ValueError(f"observation_space = {observation_space} does not split by arm: set fields and overall")
        unshared, self.actions = split_actions(action_space, arms, overall_actions)
        self.layout = {"n_arms": arms, "width": width, "fields": fields, "overall": overall}
        self.layout |= {"overall_actions": unshared, "privileged": privileged, "deep": deep}
        super().__init__(observation_space, action_space, lr_schedule, **options)

    def _build_mlp_extractor(self) -> None:
        sizes = {name: self.layout[name] for name in ("fields", "overall", "width", "privileged")}
        self.mlp_extractor = SetBodies(*(SetBody(**sizes, sees_privileged=sees) for sees in (False, True)))

    def _build(self, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)
        overall = self.layout["overall_actions"]
        self.action_net = SetHead(self.layout["width"], overall, self.actions, bool(self.layout["deep"]))
        if isinstance(self.action_space, Box):
            self.log_std = nn.Parameter(torch.full((overall + self.actions,), float(self.log_std_init)))
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]

    def _get_action_dist_from_latent(self, latent_pi: Tensor) -> Distribution:
        if not isinstance(self.action_dist, DiagGaussianDistribution):
            return super()._get_action_dist_from_latent(latent_pi)
        overall, each = self.log_std.tensor_split((self.layout["overall_actions"],))
        spread = torch.cat([overall, each.repeat(self.layout["n_arms"])])
        return self.action_dist.proba_distribution(self.action_net(latent_pi), spread)

    def obs_to_tensor(self, observation: Any) -> tuple[Any, bool]:
        """Return observations as a batch, of any number of arms, and whether they were one."""
        seen = torch.as_tensor(observation, dtype=torch.float32, device=self.device)
        return seen.reshape(-1, seen.shape[-1]), seen.ndim > 1

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | self.layout


def split_actions(space: gym.Space[Any], n_arms: int, overall: int | None = None) -> tuple[int, int]:
    """Return how many actions are about no arm (``overall``; None: what arms leave), and how many about each.

    >>> split_actions(Box(-1, 1, (2 + 5,)), n_arms=5, overall=2), split_actions(Discrete(4 * 2), 2)
    ((2, 1), (0, 4))
    """
    if not isinstance(space, Discrete) and not (isinstance(space, Box) and len(space.shape) == 1):
        raise ValueError(f"action_space = {space} must be a Box of one dimension or Discrete")
    numbers = int(space.n) if isinstance(space, Discrete) else space.shape[0]
    overall = numbers % n_arms if overall is None else overall
    each, left = divmod(numbers - overall, n_arms)
    if left or each < 1:
        raise ValueError(
            f"action_space = {space} must have {overall} overall actions and as many for each of {n_arms} arms:"
            " set overall_actions and n_arms to what the environment takes"
        )
    return overall, each
