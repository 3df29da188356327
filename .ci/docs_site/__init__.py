"""The documentation site: the repository's Markdown files as pages, built by Sphinx with MyST and the theme Furo.

The Markdown files are written for GitHub only. This package rewrites copies of them into the site's sources.
"""
