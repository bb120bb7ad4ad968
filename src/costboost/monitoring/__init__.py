"""After a model is trained: its bill is watched, and challengers are tried against it."""

from costboost.monitoring.challenging import Challenge, challenge, reprice
from costboost.monitoring.page import watch_page
from costboost.monitoring.periods import Alarm, Period
from costboost.monitoring.watching import Monitor

__all__ = ["Alarm", "Challenge", "Monitor", "Period", "challenge", "reprice", "watch_page"]
