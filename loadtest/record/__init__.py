"""What was measured, written down: its shape, where and with what, and what repeats say together."""
