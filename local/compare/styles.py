"""Defines each state's letter and colour in terminals, and its colours in light and dark pictures."""

from typing import NamedTuple

from profiles.instruments.functions import State


class Style(NamedTuple):
    """A state's letter and colours. `terminal` is one of click's colours, and `light` and `dark` are CSS colours."""

    letter: str
    terminal: str
    light: str
    dark: str


# Most colours are from the palette of Okabe and Ito, which colour-blind readers can distinguish:
# https://jfly.uni-koeln.de/color/
STYLES = {
    State.IDLE: Style(" ", "white", "#f1f1f1", "#22262c"),
    State.RUNNING: Style("█", "green", "#009e73", "#1fb98c"),
    State.CLIENT: Style("c", "yellow", "#e69f00", "#e69f00"),
    State.CAS: Style("A", "red", "#d55e00", "#e8701a"),
    State.CONNECTING: Style("o", "magenta", "#cc79a7", "#cc79a7"),
    State.SQS: Style("·", "blue", "#56b4e9", "#4aa3d6"),
    State.TABLE: Style("d", "bright_magenta", "#8c564b", "#b5796d"),
    State.CHARGEBEE: Style("b", "bright_yellow", "#f0e442", "#d9ce3a"),
    State.TURN: Style("░", "bright_black", "#b9bec6", "#5b6470"),
    State.TOKEN: Style("t", "bright_red", "#7b3294", "#b07cd0"),
    State.THREAD: Style("-", "cyan", "#0072b2", "#3a8fd0"),
    State.BATCH: Style("=", "bright_blue", "#8fbf3f", "#9dcc4f"),
}
