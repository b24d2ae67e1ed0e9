"""Imported by the server from which workers are forked: loads the compiled game once, instead of in every worker."""

import contextlib

import pyarrow.parquet  # noqa: F401

from baselines.benchmark import pool  # noqa: F401
from baselines.simulation import simulate

with contextlib.suppress(Exception):  # workers will say what is wrong
    simulate("zero", horizon=2)
