"""Imported by the server from which workers are forked: loads the compiled game once, instead of in every worker."""

import contextlib

import pyarrow.parquet  # noqa: F401

from baselines.benchmark import pool  # noqa: F401
from baselines.simulation import simulate
from pa_env.kernel.compiling import compile_silently

compile_silently()
with contextlib.suppress(Exception):  # workers will say what is wrong
    simulate("zero", horizon=2)
