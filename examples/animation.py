"""Draw the README's animation: a principal bargains with an agent that knows what it likes.

The agent plays the arm with the largest mean + incentive. It prefers arm 1, and the principal earns most from arm 0,
which costs 0.5. The principal knows neither: it makes offers, is refused, and learns from the answers.
It is one game, picked from a few because it is easy to follow; the benchmark shows how well principals do.

    python examples/animation.py docs/game.gif
"""

import argparse

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

import baselines
import pa_env

gym.register_envs(pa_env)

HORIZON, SEED = 80, 2
SIZE, CAPTION = (960, 540), 48  # pixels: of the picture, and the height of the caption below it
SLOW, FAST, LAST = 700, 160, 4000  # milliseconds: of the first frames, the others, and the last one
COLOURS = 128
NOTHING, ACCEPTED, REFUSED = "#222222", "#007A5A", "#C04A00"  # of the captions


def frame(picture: NDArray[np.uint8], caption: str, colour: str) -> Image.Image:
    """The package's picture of the game with a caption below it."""
    image = Image.new("RGB", (SIZE[0], SIZE[1] + CAPTION), "white")
    image.paste(Image.fromarray(picture).resize(SIZE, Image.Resampling.LANCZOS))
    font = ImageFont.load_default(size=28)
    ImageDraw.Draw(image).text((SIZE[0] / 2, SIZE[1] + CAPTION / 2), caption, colour, font, anchor="mm")
    return image


def answer(offer: NDArray[np.float64], arm: int) -> tuple[str, str]:
    """What the agent did with an offer, in words, and their colour."""
    target = int(offer.argmax())
    if offer[target] < 0.005:  # shown as 0.00
        return f"no incentive: the agent plays arm {arm}", NOTHING
    if arm == target:
        return f"incentive {offer[target]:.2f} on arm {target}: accepted", ACCEPTED
    return f"incentive {offer[target]:.2f} on arm {target}: refused, the agent plays arm {arm}", REFUSED


def main(path: str) -> None:
    """Play the game and write its frames."""
    env = gym.make(
        "PrincipalAgent-v0",
        instance=pa_env.IID(mu=[0.3, 0.8, 0.55, 0.4], theta=[0.9, 0.2, 0.45, 0.6]),
        agent="oracle",
        horizon=HORIZON,
        render_mode="rgb_array",
    )
    principal = baselines.make("particle", n_arms=4, horizon=HORIZON)
    env.reset(seed=SEED)
    principal.reset(SEED)
    frames = []
    for _ in range(HORIZON):
        offer = principal.offer()
        *_, info = env.step(offer)
        principal.observe(info["arm"], info["reward"])
        frames.append(frame(np.asarray(env.render()), *answer(offer, info["arm"])))
    # One palette for all, from three frames with all colours: nothing flickers, and only what changed is stored.
    samples = Image.fromarray(np.vstack([np.asarray(frames[i]) for i in (0, 13, HORIZON - 1)]))
    palette = samples.quantize(COLOURS, Image.Quantize.MAXCOVERAGE)
    frames = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in frames]
    durations = [SLOW] * 20 + [FAST] * (HORIZON - 21) + [LAST]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations, loop=0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draw the README's animation.")
    parser.add_argument("path", nargs="?", default="game.gif", help="file to write")
    main(parser.parse_args().path)
