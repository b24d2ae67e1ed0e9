"""Plain learners on the interface that is made for them: each runs, and PPO finds what there is to find."""

from typing import Any

import gymnasium as gym
import pytest

pytest.importorskip("stable_baselines3", reason="the extra [train] is not installed")

from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.evaluation import evaluate_policy

from baselines.rl.networks import SetActorCritic
from baselines.rl.vec_env import GameVecEnv
from pa_env import IID
from pa_env.wrappers import ForLearning

SMALL: dict[type, dict[str, Any]] = {
    A2C: {"n_steps": 8},
    DQN: {"learning_starts": 16, "train_freq": 4},
    SAC: {"learning_starts": 16},
    TD3: {"learning_starts": 16},
}
INSTANCE = IID([0.6, 0.5, 0.2], [0.1, 0.1, 0.9], "constant")  # the last arm is worth 0.9 and asks for 0.4


def games(copies: int, continuous: bool = False) -> GameVecEnv:
    options = {"n_arms": 3, "horizon": 20, "instance": INSTANCE, "agent": "oracle", "autoreset_mode": "Disabled"}
    envs = GameVecEnv(ForLearning(gym.make_vec("PrincipalAgent-v0", copies, **options), continuous), staggered=True)
    envs.seed(10**6)
    return envs


@pytest.mark.parametrize("policy", ["MlpPolicy", SetActorCritic])
def test_ppo_learns_to_pay_for_the_good_arm(policy: Any) -> None:
    model = PPO(policy, games(64), 3e-3, 20, 320, 4, gamma=1.0, ent_coef=0.01, seed=0, device="cpu").learn(20_000)
    envs = games(200)
    envs.staggered = False
    mean, _ = evaluate_policy(model, envs, n_eval_episodes=200, deterministic=False)
    # Known at once the good arm would bring 20 x 0.5. To pay nothing brings 2.
    assert mean >= 6.0


@pytest.mark.parametrize("learner", SMALL)
def test_other_learners_take_it(learner: type) -> None:
    continuous = learner in (SAC, TD3)
    model = learner("MlpPolicy", games(4, continuous), seed=0, device="cpu", **SMALL[learner]).learn(64)
    assert model.num_timesteps == 64


def test_a_recurrent_learner_takes_it() -> None:
    contrib = pytest.importorskip("sb3_contrib", reason="the extra [learners] is not installed")
    model = contrib.RecurrentPPO("MlpLstmPolicy", games(4), n_steps=16, batch_size=64, seed=0, device="cpu").learn(64)
    assert model.num_timesteps == 64


def test_a_policy_finds_out_how_many_arms_there_are() -> None:
    layout = PPO(SetActorCritic, games(4), device="cpu").policy.layout  # type: ignore[union-attr]
    assert (layout["n_arms"], layout["overall_actions"]) == (3, 0)
