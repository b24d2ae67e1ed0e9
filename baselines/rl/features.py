"""Networks that treat arms alike, for Stable-Baselines3.

An observation is field-major: ``fields`` blocks of n_arms numbers, then ``overall`` numbers (the game's summary has 6
and 2). Actions are ``overall_actions`` numbers about no arm, then equally many about each arm in turn: none and 5 for
the logits of ``ForLearning``'s Discrete(5 K), 2 and 1 for a Box of 2 + K numbers. Two policies that do not learn the
same thing once for each arm, since their actions about an arm move with it when arms are relabelled:

- :class:`SetActorCritic` reads arms as a set; its weights do not depend on how many there are;
- :class:`SortedActorCritic` is a perceptron of the arms in the order of one of the fields, best first.

:class:`SetExtractor` and :class:`SortedArms` are what these see, for a policy of your own. They do not say which arm is
which: they are for critics, and for actions that name no arm (``ProfitLevel``).

Networks are small, since a rollout and its updates are all that training costs.
"""

from typing import Any

import gymnasium as gym
import torch
from gymnasium.spaces import Box, Discrete
from stable_baselines3.common.distributions import DiagGaussianDistribution, Distribution
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, MlpExtractor
from torch import Tensor, nn

from pa_env.kernel.layout import BLOCKS, OVERALL

SUMMARY_FIELDS, SUMMARY_OVERALL = BLOCKS, OVERALL


class SortedArms(BaseFeaturesExtractor):
    """The observation with its arms sorted by a field, largest first; by default the summary's theta_hat.

    Which arm is which is lost: for actions that are about arms, take :class:`SortedActorCritic`.
    """

    def __init__(
        self,
        observation_space: gym.Space[Any],
        n_arms: int,
        by: int = 1,
        fields: int = SUMMARY_FIELDS,
        overall: int = SUMMARY_OVERALL,
    ) -> None:
        super().__init__(observation_space, fields * n_arms + overall)
        self.n_arms, self.by, self.fields = n_arms, by, fields

    def forward(self, observations: Tensor) -> Tensor:
        """(batch, fields n_arms + overall), sorted."""
        arms = observations[:, : self.fields * self.n_arms].reshape(-1, self.fields, self.n_arms)
        arms = torch.gather(arms, 2, self.order(observations)[:, None].expand_as(arms))
        return torch.cat([arms.flatten(1), observations[:, self.fields * self.n_arms :]], dim=1)

    def order(self, observations: Tensor) -> Tensor:
        """(batch, n_arms): the arm that comes first, second and so on; of equals, the one with the smaller index."""
        keys = observations[:, self.by * self.n_arms : (self.by + 1) * self.n_arms]
        return torch.argsort(keys, dim=1, descending=True, stable=True)


class SetBody(nn.Module):
    """From an observation to a code of ``width`` numbers for each arm and one for all (batch, n_arms + 1, width).

    An arm's code is a perceptron of its fields and the overall numbers; that of all of them, of the mean and maximum of
    these codes and the overall numbers.
    """

    def __init__(self, n_arms: int, fields: int, overall: int, width: int) -> None:
        super().__init__()
        self.n_arms, self.fields, self.overall, self.width = n_arms, fields, overall, width
        self.arm_in, self.arm_out = nn.Linear(fields + overall, width), nn.Linear(width, width)
        self.together = nn.Linear(2 * width + overall, width)

    def forward(self, observations: Tensor) -> Tensor:
        """Codes, ReLU at every layer."""
        k = self.n_arms
        arms = observations[:, : self.fields * k].reshape(-1, self.fields, k).transpose(1, 2)
        overall = observations[:, self.fields * k : self.fields * k + self.overall]
        shared = overall[:, None].expand(-1, k, -1)
        codes = torch.relu(self.arm_out(torch.relu(self.arm_in(torch.cat([arms, shared], dim=2)))))
        pooled = torch.cat([codes.mean(dim=1), codes.amax(dim=1), overall], dim=1)
        return torch.cat([codes, torch.relu(self.together(pooled))[:, None]], dim=1)


class SetHead(nn.Module):
    """From codes to actions: ``overall`` numbers from the code of all, then ``each`` numbers for each arm in turn."""

    def __init__(self, width: int, overall: int, each: int) -> None:
        super().__init__()
        self.all = nn.Linear(width, overall) if overall else None
        self.arm = nn.Linear(2 * width, each) if each else None

    def forward(self, codes: Tensor) -> Tensor:
        """(batch, overall + each * n_arms)."""
        arms, together = codes[:, :-1], codes[:, -1]
        parts = [] if self.all is None else [self.all(together)]
        if self.arm is not None:
            pairs = torch.cat([arms, together[:, None].expand_as(arms)], dim=2)
            parts.append(self.arm(pairs).flatten(1))
        return torch.cat(parts, dim=1)


class SetExtractor(BaseFeaturesExtractor):
    """The code of all arms together: the same for any order of them, of the same size for any number of them.

    Which arm is which is lost: for actions that are about arms, take :class:`SetActorCritic`.
    """

    def __init__(
        self,
        observation_space: gym.Space[Any],
        n_arms: int,
        width: int = 32,
        fields: int = SUMMARY_FIELDS,
        overall: int = SUMMARY_OVERALL,
    ) -> None:
        super().__init__(observation_space, width)
        self.body = SetBody(n_arms, fields, overall, width)

    def forward(self, observations: Tensor) -> Tensor:
        """(batch, width)."""
        return self.body(observations)[:, -1]  # type: ignore[no-any-return]


class _Bodies(nn.Module):
    """What Stable-Baselines3 calls an MLP extractor: a body for the actor, and another for the critic."""

    def __init__(self, actor: SetBody, critic: SetBody) -> None:
        super().__init__()
        self.actor, self.critic = actor, critic
        self.latent_dim_pi = self.latent_dim_vf = actor.width

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        return self.forward_actor(observations), self.forward_critic(observations)

    def forward_actor(self, observations: Tensor) -> Tensor:
        codes: Tensor = self.actor(observations)
        return codes

    def forward_critic(self, observations: Tensor) -> Tensor:
        code: Tensor = self.critic(observations)[:, -1]
        return code


def action_numbers(space: gym.Space[Any]) -> int:
    """How many numbers a Box has, or logits a Discrete."""
    if isinstance(space, Discrete):
        return int(space.n)
    if isinstance(space, Box) and len(space.shape) == 1:
        return space.shape[0]
    raise ValueError(f"action_space = {space} must be a Box of one dimension or Discrete")


def actions_per_arm(space: gym.Space[Any], n_arms: int, overall: int) -> int:
    """How many of the numbers of a Box, or logits of a Discrete, each arm has once ``overall`` are taken off.

    >>> actions_per_arm(Box(-1, 1, (2 + 5,)), n_arms=5, overall=2), actions_per_arm(Discrete(4 * 2), 2, 0)
    (1, 4)
    """
    each, left = divmod(action_numbers(space) - overall, n_arms)
    if left or each < 1:
        raise ValueError(
            f"action_space = {space} must have {overall} overall actions and as many for each of {n_arms} arms:"
            " set overall_actions and n_arms to what the environment takes"
        )
    return each


class _ByArm(ActorCriticPolicy):
    """What both policies share: which action is about which arm, and standard deviations that are those of all arms."""

    def __init__(
        self,
        layout: dict[str, Any],
        observation_space: gym.Space[Any],
        action_space: gym.Space[Any],
        lr_schedule: Any,
        **options: Any,
    ) -> None:
        if layout["n_arms"] is None:
            numbers = (observation_space.shape or (0,))[0] - layout["overall"]
            arms, left = divmod(numbers, layout["fields"])
            if left or arms < 1:
                raise ValueError(
                    f"observation_space = {observation_space} does not split by arm: set fields and overall"
                )
            layout["n_arms"] = arms
        if layout["overall_actions"] is None:
            layout["overall_actions"] = action_numbers(action_space) % layout["n_arms"]
        self.layout: dict[str, int] = layout  # arguments of the subclass
        super().__init__(observation_space, action_space, lr_schedule, **options)

    def _head(self, overall: int, each: int) -> nn.Module:
        """From what the actor makes of observations to actions."""
        raise NotImplementedError

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        overall = self.layout["overall_actions"]
        each = actions_per_arm(self.action_space, self.layout["n_arms"], overall)
        self.action_net = self._head(overall, each)
        if isinstance(self.action_space, Box):
            self.log_std = nn.Parameter(torch.full((overall + each,), float(self.log_std_init)))
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]

    def _get_action_dist_from_latent(self, latent_pi: Tensor) -> Distribution:
        if not isinstance(self.action_dist, DiagGaussianDistribution):
            return super()._get_action_dist_from_latent(latent_pi)
        overall, each = self.log_std.tensor_split((self.layout["overall_actions"],))
        spread = torch.cat([overall, each.repeat(self.layout["n_arms"])])
        return self.action_dist.proba_distribution(self.action_net(latent_pi), spread)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | self.layout


class SetActorCritic(_ByArm):
    """A policy of arms as a set: a code for each and one for all of them (:class:`SetBody`), then actions.

    All arms share weights, so that a policy for K arms loads into one for any other number. Its actions start at zero.

    Args:
        *arguments: of every policy of Stable-Baselines3.
        n_arms: None: what the observation has room for.
        width: of the codes.
        fields: blocks of n_arms numbers that stand first in an observation.
        overall: numbers that follow them.
        overall_actions: actions about no arm; None: what is left when arms have equally many.
        **options: of every policy of Stable-Baselines3.
    """

    def __init__(
        self,
        *arguments: Any,
        n_arms: int | None = None,
        width: int = 16,
        fields: int = SUMMARY_FIELDS,
        overall: int = SUMMARY_OVERALL,
        overall_actions: int | None = None,
        **options: Any,
    ) -> None:
        layout = {"n_arms": n_arms, "width": width, "fields": fields, "overall": overall}
        layout["overall_actions"] = overall_actions
        super().__init__(layout, *arguments, **options)

    def _build_mlp_extractor(self) -> None:
        n_arms, width, fields, overall, _ = self.layout.values()
        actor, critic = (SetBody(n_arms, fields, overall, width) for _ in range(2))
        self.mlp_extractor = _Bodies(actor, critic)  # type: ignore[assignment]

    def _head(self, overall: int, each: int) -> nn.Module:
        head = SetHead(self.layout["width"], overall, each)
        for parameter in head.parameters():
            nn.init.zeros_(parameter)
        return head


class _SortedBodies(MlpExtractor):
    """Perceptrons of the sorted arms; the actor's output ends with their order, for :class:`_Unsorted`."""

    arms: SortedArms

    def forward_actor(self, features: Tensor) -> Tensor:
        return torch.cat([super().forward_actor(self.arms(features)), self.arms.order(features)], dim=1)

    def forward_critic(self, features: Tensor) -> Tensor:
        return super().forward_critic(self.arms(features))


class _Unsorted(nn.Module):
    """A linear layer whose outputs about the first, second, ... arm in order go to these arms."""

    def __init__(self, linear: nn.Module, n_arms: int, overall: int) -> None:
        super().__init__()
        self.linear, self.n_arms, self.overall = linear, n_arms, overall

    def forward(self, codes: Tensor) -> Tensor:
        """(batch, overall + each n_arms)."""
        codes, order = codes.tensor_split((codes.shape[1] - self.n_arms,), dim=1)
        overall, ranked = self.linear(codes).tensor_split((self.overall,), dim=1)
        ranked = ranked.reshape(len(codes), self.n_arms, -1)
        arms = torch.empty_like(ranked).scatter(1, order.long()[:, :, None].expand_as(ranked), ranked)
        return torch.cat([overall, arms.flatten(1)], dim=1)


class SortedActorCritic(_ByArm):
    """A policy of the arms in the order of field ``by``, largest first: perceptrons, as large as ``net_arch`` says.

    Its outputs about the first, second, ... arm in that order are the actions about these arms. Arms that are equal in
    the field, as all are before the first round, come in the order of their indices.
    """

    def __init__(
        self,
        *arguments: Any,
        n_arms: int | None = None,
        by: int = 1,
        fields: int = SUMMARY_FIELDS,
        overall: int = SUMMARY_OVERALL,
        overall_actions: int | None = None,
        **options: Any,
    ) -> None:
        layout = {"n_arms": n_arms, "by": by, "fields": fields, "overall": overall, "overall_actions": overall_actions}
        super().__init__(layout, *arguments, **options)

    def _build_mlp_extractor(self) -> None:
        n_arms, by, fields, overall, _ = self.layout.values()
        arms = SortedArms(self.observation_space, n_arms, by, fields, overall)
        self.mlp_extractor = _SortedBodies(arms.features_dim, self.net_arch, self.activation_fn, self.device)
        self.mlp_extractor.arms = arms

    def _head(self, overall: int, each: int) -> nn.Module:
        return _Unsorted(self.action_net, self.layout["n_arms"], overall)
