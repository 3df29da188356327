"""How each state looks: a letter and a colour for terminals, and colours for the two schemes of a picture."""

from typing import NamedTuple

from local.compare.states import State


class Look(NamedTuple):
    """`terminal`: a name of click's colours."""

    letter: str
    terminal: str
    light: str
    dark: str


# Hues from Okabe and Ito's palette, which colour-blind readers can tell apart (https://jfly.uni-koeln.de/color/).
LOOKS = {
    State.IDLE: Look(" ", "white", "#f1f1f1", "#22262c"),
    State.RUNNING: Look("█", "green", "#009e73", "#1fb98c"),
    State.CLIENT: Look("c", "yellow", "#e69f00", "#e69f00"),
    State.CAS: Look("A", "red", "#d55e00", "#e8701a"),
    State.CONNECTING: Look("o", "magenta", "#cc79a7", "#cc79a7"),
    State.SQS: Look("·", "blue", "#56b4e9", "#4aa3d6"),
    State.TABLE: Look("d", "bright_magenta", "#8c564b", "#b5796d"),
    State.CHARGEBEE: Look("b", "bright_yellow", "#f0e442", "#d9ce3a"),
    State.TURN: Look("░", "bright_black", "#b9bec6", "#5b6470"),
    State.TOKEN: Look("t", "bright_red", "#7b3294", "#b07cd0"),
    State.THREAD: Look("-", "cyan", "#0072b2", "#3a8fd0"),
    State.BATCH: Look("=", "bright_blue", "#8fbf3f", "#9dcc4f"),
}
