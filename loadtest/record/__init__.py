"""The data of measurements: their shape, their environment, and estimates over repeats."""
