"""The data of measurements: schemas, environments, estimates over repeats, and folders."""
