"""The programs with which the releases are compared: the floor (uvicorn without a framework), and other languages."""
