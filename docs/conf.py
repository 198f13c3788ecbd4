# Sphinx settings. Build with: uv run sphinx-build -W docs docs/_build

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for the extensions beside this file

from reference_pages import ALIASES

project = "sennit"
author = "the sennit contributors"
copyright = author
release = version = metadata.version("sennit")

extensions = [
    "myst_parser",
    "sphinx_design",  # cards
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # MathJax itself: pages are read without a network
    "sphinx_gallery.gen_gallery",
    "linked_names",
    "offline_pages",
    "reference_pages",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/*.ipynb", "sg_execution_times.rst", "gallery/sg_execution_times.rst", "tables/*"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# In docstrings single backticks are names, some of which have a page, and arguments.
default_role = "py:obj"
add_module_names = False
autodoc_member_order = "groupwise"  # makers, methods, properties
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ALIASES}
autodoc_typehints_format = "short"
maximum_signature_line_length = 90
python_display_short_literal_types = True
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "sennit"
html_copy_source = False
html_show_copyright = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "doc_module": ("sennit",),
    "download_all_examples": False,
    "reference_url": {"sennit": None},  # names in programs lead to the reference
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}
