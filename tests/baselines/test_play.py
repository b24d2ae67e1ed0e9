"""A person at the table: what is typed, what is shown, how it ends."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import baselines
from baselines.__main__ import app
from baselines.cli.play import AgentSeat, PrincipalSeat, take_seat

GAME = ("--arms", "3", "--horizon", "4", "--seed", "2")


def play(typed: str, *options: str) -> str:
    shown = CliRunner().invoke(app, ["play", *GAME, *options], input=typed)
    assert shown.exit_code == 0, shown.output
    return " ".join(shown.output.split())


def earned(output: str) -> dict[str, float]:
    """The last table: who would have earned what."""
    rows = re.findall(r"│ ([\w' ()-]+?) +│ (-?[\d.]+) +│", output.split("with the same random draws")[1])
    return {who: float(total) for who, total in rows}


def test_principals_seat_is_scored_as_a_fixed_principal_is() -> None:
    principal = baselines.make("fixed", n_arms=3, horizon=4, incentives=[0, 0, 0.75])
    run = baselines.simulate(principal, seed=2)
    output = play("2 0.75\n" * 4)
    assert earned(output)["you"] == pytest.approx(run.utility[-1], abs=0.005)
    assert output.count("The agent played arm") == 4
    assert "You stopped" not in output


def test_others_are_played_on_the_same_luck() -> None:
    compared = earned(play("\n" * 4))
    assert compared["you"] == compared["zero"]
    oracle = baselines.simulate(baselines.make("oracle", n_arms=3, horizon=4), seed=2).utility[-1]
    assert compared["oracle (is shown the agent's beliefs and the true means)"] == pytest.approx(oracle, abs=0.005)
    assert "profit-target" in compared


def test_a_number_for_each_arm_is_an_offer_too() -> None:
    assert earned(play("0.1 0 0.75\n" * 4)) == earned(play("0.10 0. 7.5e-1\n" * 4))


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("two 0.5", "'two 0.5' must be numbers"),
        ("1", "must be two numbers, an arm and its incentive, or 3"),
        ("3 0.5", "arm = 3 must be an integer from 0 to 2"),
        ("0.5 0.5", "arm = 0.5 must be an integer from 0 to 2"),
        ("1 -0.5", "must be a finite number, at least 0"),
        ("1 nan", "must be a finite number, at least 0"),
        ("1 5", "at most max_incentive = 4"),
        ("[bold]", "'[bold]' must be numbers"),
    ],
)
def test_a_bad_offer_is_asked_again(typed: str, answer: str) -> None:
    output = play(f"{typed}\n1 0.5\nq\n")
    assert answer in output
    assert output.count("round 1 of 4>") == 2
    assert "After round 1, with the same random draws" in output


def test_help_is_shown_when_asked() -> None:
    assert play("q\n").count("You are the principal") == 1
    assert play("?\nq\n").count("You are the principal") == 2


def test_help_fits_80_columns() -> None:
    assert max(len(line) for seat in (PrincipalSeat, AgentSeat) for line in seat.help.splitlines()) <= 80


@pytest.mark.parametrize("typed", ["q\n", ""])
def test_leaving_at_once_is_polite(typed: str) -> None:
    output = play(typed)
    assert output.endswith("You stopped.")


def test_leaving_early_compares_the_rounds_played() -> None:
    run = baselines.simulate(baselines.make("zero", n_arms=3, horizon=4), seed=1, checkpoints=[2, 4])
    assert run.utility[0] != run.utility[1]
    output = play("\n\n", "--seed", "1")
    assert "After round 2, with the same random draws" in output
    assert earned(output)["zero"] == pytest.approx(run.utility[0], abs=0.005)


def test_ctrl_c_ends_politely(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("rich.console.Console.input", interrupted)
    assert play("").endswith("You stopped.")


def test_agents_seat() -> None:
    output = play("0\nx\n7\n1\n2\n2\n", "--seat", "agent", "--principal", "elimination,constants=practical")
    assert "'x' must be an arm, an integer from 0 to 2" in output
    assert "arm = 7 must be an integer from 0 to 2" in output
    assert output.count("You got") == 4
    assert set(earned(output)) == {"you", "a greedy agent"}
    assert float(output.split("Your total: ")[-1].split()[0].rstrip(".")) == earned(output)["you"]


def test_even_the_oracle_offers_in_the_agents_seat() -> None:
    assert play("0\n1\n2\n0\n", "--seat", "agent", "--principal", "oracle").count("the principal got") == 4


def test_a_principal_that_fails_is_not_taken_for_a_bad_answer(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("""
from baselines import Principal, hold
class Raises(Principal):
    def rounds(self):
        yield hold(0, 0.5)
        raise ValueError("I give up")
""")
    shown = CliRunner().invoke(app, ["play", *GAME, "--seat", "agent", "--principal", f"{own}:Raises"], input="0\n" * 4)
    assert shown.exit_code == 1
    assert "Error: I give up" in shown.stderr
    assert shown.output.count("of 4>") == 1


@pytest.mark.parametrize("seat", ["principal", "agent"])
@pytest.mark.parametrize(("instance", "n_arms"), [("ipa-k5", 5), ("ipa-k50", 50), ("own", 4), ("uniform", 3)])
def test_the_instance_says_how_many_arms_there_are(tmp_path: Path, seat: str, instance: str, n_arms: int) -> None:
    (tmp_path / "own.py").write_text("import pa_env\nown = pa_env.IID(mu=[0.5] * 4, theta=[0.5] * 4)\n")
    named = f"{tmp_path / 'own.py'}:own" if instance == "own" else instance
    assert take_seat(seat, "zero" if seat == "agent" else "oracle", None, 4, named, 0).n_arms == n_arms
    with pytest.raises(ValueError, match="pass n_arms=5"):
        take_seat(seat, "zero" if seat == "agent" else "oracle", 3, 4, "ipa-k5", 0)


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (["--seat", "bystander"], "seat = 'bystander' is unknown"),
        (["--agent", "gready"], "agent = 'gready' is unknown"),
        (["--seat", "agent", "--principal", "ipb"], "principal = 'ipb' is unknown"),
    ],
)
def test_a_bad_option_is_named(options: list[str], answer: str) -> None:
    shown = CliRunner().invoke(app, ["play", *options])
    assert shown.exit_code == 1
    assert answer in shown.output
