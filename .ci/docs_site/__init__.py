"""The documentation site: the repository's Markdown files as pages, built by Sphinx with MyST and the theme Furo.

The Markdown is written for GitHub. Nothing in it is for the site: this package makes the site's sources from it.
"""
