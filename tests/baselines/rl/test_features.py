"""Networks that treat arms alike: any order gives the same, any number of arms is taken."""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="the extra [train] is not installed")

import gymnasium as gym
import torch
from gymnasium.spaces import Box, Discrete, Space
from stable_baselines3 import PPO

import baselines
from baselines.rl.cloning import clone, demonstrations
from baselines.rl.features import SetActorCritic, SetExtractor, SortedArms
from baselines.rl.vec_env import GameVecEnv
from pa_env.wrappers import RescaleIncentive

K = 4
ORDER = torch.tensor([2, 0, 3, 1])


def relabelled(observations: torch.Tensor, fields: int, hidden: int = 0) -> torch.Tensor:
    """The same observations with arm ORDER[a] called a."""
    shown = observations.shape[1] - hidden * K
    first, overall, last = observations.tensor_split((fields * K, shown), dim=1)
    blocks = [part.reshape(len(part), -1, K)[:, :, ORDER].flatten(1) for part in (first, last)]
    return torch.cat([blocks[0], overall, blocks[1]], dim=1)


def policy(actions: Space, n_arms: int = K, hidden: int = 0) -> SetActorCritic:
    torch.manual_seed(0)
    space = Box(-9, 9, (6 * n_arms + 2 + hidden * n_arms,), np.float32)
    made = SetActorCritic(space, actions, lambda _: 1e-3, n_arms=n_arms, hidden=hidden)
    for parameter in made.action_net.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return made


@pytest.mark.parametrize("extractor", [SortedArms, SetExtractor])
def test_extractors_do_not_mind_the_order_of_arms(extractor: type) -> None:
    network = extractor(Box(-9, 9, (6 * K + 2,), np.float32), n_arms=K)
    seen = torch.randn(8, 6 * K + 2, generator=torch.Generator().manual_seed(0))
    code = network(seen)
    assert code.shape == (8, network.features_dim)
    torch.testing.assert_close(network(relabelled(seen, 6)), code)
    assert (network(seen + 0.1) - code).abs().max() > 1e-3


def test_sorted_arms_come_best_first() -> None:
    network = SortedArms(Box(-9, 9, (3 * 2 + 1,), np.float32), n_arms=3, by=0, fields=2, overall=1)
    assert network(torch.tensor([[1.0, 3, 2, 10, 30, 20, 7]])).tolist() == [[3, 2, 1, 30, 20, 10, 7]]


@pytest.mark.parametrize(
    ("actions", "overall"), [(Box(-1, 1, (2 + K,)), 2), (Box(-1, 1, (K,)), 0), (Discrete(4 * K), 0)]
)
def test_actions_move_with_their_arms(actions: Space, overall: int) -> None:
    made = policy(actions, hidden=3)
    seen = torch.randn(8, 6 * K + 2 + 3 * K, generator=torch.Generator().manual_seed(0))
    moved = relabelled(seen, 6, 3)

    def outputs(observations: torch.Tensor) -> torch.Tensor:
        return made.action_net(made.mlp_extractor.forward_actor(observations))

    first, second = outputs(seen), outputs(moved)
    torch.testing.assert_close(second[:, :overall], first[:, :overall])
    arms = first[:, overall:].reshape(8, K, -1)[:, ORDER].flatten(1)
    torch.testing.assert_close(second[:, overall:], arms)
    torch.testing.assert_close(made.predict_values(moved), made.predict_values(seen))


def test_only_the_critic_sees_the_hidden_blocks() -> None:
    made = policy(Box(-1, 1, (2 + K,)), hidden=3)
    seen = torch.zeros(1, 6 * K + 2 + 3 * K)
    other = seen.clone()
    other[:, -3 * K :] = 1.0
    assert made.predict_values(seen) != made.predict_values(other)
    np.testing.assert_array_equal(
        made.predict(seen.numpy(), deterministic=True)[0], made.predict(other.numpy(), deterministic=True)[0]
    )


def test_weights_fit_any_number_of_arms() -> None:
    small, large = policy(Discrete(4 * 3), n_arms=3), policy(Discrete(4 * 9), n_arms=9)
    large.load_state_dict(small.state_dict())


def test_a_model_comes_back_from_stable_baselines3s_file(tmp_path: object) -> None:
    envs = GameVecEnv(RescaleIncentive(gym.make_vec("PrincipalAgent-v0", 4, n_arms=K, autoreset_mode="Disabled")))
    model = PPO(SetActorCritic, envs, n_steps=8, batch_size=32, policy_kwargs={"n_arms": K}, seed=0, device="cpu")
    model.save(f"{tmp_path}/model.zip")
    seen = envs.reset()
    again = PPO.load(f"{tmp_path}/model.zip", device="cpu")
    np.testing.assert_array_equal(
        again.predict(seen, deterministic=True)[0], model.predict(seen, deterministic=True)[0]
    )


def test_cloning_imitates_a_script() -> None:
    principal = baselines.make("fixed", n_arms=3, horizon=20, incentives=(0.0, 0.8, 0.2))
    games = gym.make_vec("PrincipalAgent-v0", 16, n_arms=3, horizon=20, autoreset_mode="Disabled")
    observations, offers = demonstrations(principal, games, seed=0)
    assert (offers == [0.0, 0.8, 0.2]).all()
    envs = GameVecEnv(RescaleIncentive(games))
    made = PPO("MlpPolicy", envs, seed=0, device="cpu").policy
    losses = clone(made, observations, offers / games.game.max_incentive, epochs=40)
    assert losses[-1] < losses[0]
    action, _ = made.predict(observations, deterministic=True)
    assert np.abs(action - [0.0, 0.2, 0.05]).mean() < 0.03
