"""Networks that treat arms alike, for Stable-Baselines3.

An observation is field-major: ``fields`` blocks of n_arms numbers, then ``overall`` numbers (the game's summary has 6
and 2). Three ways to read it without learning the same thing once for each arm:

- :class:`SortedArms`, an extractor: arms in the order of one of the fields, best first, for any multilayer perceptron;
- :class:`SetExtractor`, an extractor: a code for each arm and one for all of them, the same numbers for any order;
- :class:`SetActorCritic`, a policy: its actions about an arm move with the arm when arms are relabelled, and its
  weights do not depend on how many arms there are.

Networks are small, since a rollout and its updates are all that training costs.
"""

from typing import Any

import gymnasium as gym
import torch
from gymnasium.spaces import Box, Discrete
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

SUMMARY_FIELDS, SUMMARY_OVERALL = 6, 2


class SortedArms(BaseFeaturesExtractor):
    """The observation with its arms sorted by a field, largest first; by default the summary's theta_hat."""

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
        order = torch.argsort(arms[:, self.by], dim=1, descending=True, stable=True)
        arms = torch.gather(arms, 2, order[:, None].expand_as(arms))
        return torch.cat([arms.flatten(1), observations[:, self.fields * self.n_arms :]], dim=1)


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
    """The code of all arms together: the same for any order of them, of the same size for any number of them."""

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
    """What Stable-Baselines3 calls an MLP extractor: a body for the actor, and one for the critic that may see more."""

    def __init__(self, actor: SetBody, critic: SetBody, hidden: int) -> None:
        super().__init__()
        self.actor, self.critic, self.hidden = actor, critic, hidden
        self.latent_dim_pi = self.latent_dim_vf = actor.width

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        return self.forward_actor(observations), self.forward_critic(observations)

    def forward_actor(self, observations: Tensor) -> Tensor:
        codes: Tensor = self.actor(observations)
        return codes

    def forward_critic(self, observations: Tensor) -> Tensor:
        """Blocks that only the critic sees stand last; its fields are they and those of the actor."""
        shown = observations.shape[1] - self.hidden
        split = self.actor.fields * self.actor.n_arms
        first, overall, hidden = observations.tensor_split((split, shown), dim=1)
        codes: Tensor = self.critic(torch.cat([first, hidden, overall], dim=1))[:, -1]
        return codes


class SetActorCritic(ActorCriticPolicy):
    """An equivariant policy: of the actions, those left over from n_arms equal parts are about no arm.

    A Box of 2 + K numbers: two overall, one for each arm. Discrete(4 K): four logits for each arm. The last ``hidden``
    blocks of n_arms numbers of an observation are for the critic only. Its actions start near zero.
    """

    def __init__(
        self,
        *arguments: Any,
        n_arms: int,
        width: int = 32,
        fields: int = SUMMARY_FIELDS,
        overall: int = SUMMARY_OVERALL,
        hidden: int = 0,
        **options: Any,
    ) -> None:
        self.layout = {"n_arms": n_arms, "width": width, "fields": fields, "overall": overall, "hidden": hidden}
        super().__init__(*arguments, **options)

    def _build_mlp_extractor(self) -> None:
        n_arms, width, fields, overall, hidden = self.layout.values()
        actor = SetBody(n_arms, fields, overall, width)
        self.mlp_extractor = _Bodies(actor, SetBody(n_arms, fields + hidden, overall, width), hidden * n_arms)  # type: ignore[assignment]

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        space = self.action_space
        size = int(space.n) if isinstance(space, Discrete) else int(space.shape[0]) if isinstance(space, Box) else 0
        each, left = divmod(size, self.layout["n_arms"])
        self.action_net = SetHead(self.layout["width"], left, each)
        for parameter in self.action_net.parameters():
            nn.init.normal_(parameter, std=1e-3)
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]

    def learn_actions(self, allowed: bool) -> None:
        """Whether updates move the actor too, or the critic alone."""
        for name, parameter in self.named_parameters():
            if not name.startswith(("mlp_extractor.critic", "value_net")):
                parameter.requires_grad_(allowed)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | self.layout
