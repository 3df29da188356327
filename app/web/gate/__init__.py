"""The rules that every webhook passes before its release: overload, authentication, admission, limits on the body."""
