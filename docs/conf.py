# Sphinx settings. Build with: uv run sphinx-build -W docs docs/_build

from importlib import metadata

project = "sennit"
author = "the sennit contributors"
copyright = author
release = version = metadata.version("sennit")

extensions = ["myst_parser", "sphinx.ext.mathjax", "sphinx_gallery.gen_gallery"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/*.ipynb", "sg_execution_times.rst", "gallery/sg_execution_times.rst", "tables/*"]

myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "sennit"
html_copy_source = False
html_show_copyright = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}
