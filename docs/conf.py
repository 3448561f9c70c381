"""Sphinx configuration: `make docs` builds the pages into docs/_build/html."""

import sys
from pathlib import Path

import duelmatch

sys.path.append(str(Path(__file__).parent / "_extensions"))

project = "duelmatch"
author = "The duelmatch authors"
copyright = author
release = version = duelmatch.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "mathml", "notebooks"]
exclude_patterns = ["_build", "_extensions"]
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_theme = "furo"
html_title = f"duelmatch {release}"

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "separated"
