"""Checks each webhook before its handler runs: overload, authentication, admission, and limits on the body."""
