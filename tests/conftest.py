"""What every test shares: Hypothesis runs the same examples each time, and helper modules can be imported."""

import os
import sys
from pathlib import Path

from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run on every core already: more threads only wait for each other
settings.register_profile("project", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("project")

sys.path.append(str(Path(__file__).parent / "pa_env"))
