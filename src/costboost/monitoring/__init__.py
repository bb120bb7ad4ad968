"""After a model is trained: its bill is watched, period after period."""

from costboost.monitoring.page import watch_page
from costboost.monitoring.watching import Alarm, Monitor, Period

__all__ = ["Alarm", "Monitor", "Period", "watch_page"]
