"""Sphinx configuration: `make docs` builds the pages into docs/_build/html."""

import duelmatch

project = "duelmatch"
author = "The duelmatch authors"
copyright = author
release = version = duelmatch.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"duelmatch {release}"

myst_enable_extensions = ["deflist"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "separated"
