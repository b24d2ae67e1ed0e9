"""Sphinx's settings: ``make docs``."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # declared, site_parts
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pa_env

project = "principal-agent-env"
author = "The principal-agent-env authors"
copyright = "2026, " + author
version = release = pa_env.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "site_parts",
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_execution_show_tb = True

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what each argument may be
napoleon_google_docstring, napoleon_numpy_docstring = True, False
copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. |\$ ", True

html_theme = "furo"
html_title = f"principal-agent-env {release}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_show_sourcelink = False
