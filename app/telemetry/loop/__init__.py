"""The event loop: how late it is, and what blocks it."""
