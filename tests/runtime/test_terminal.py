"""One line of a terminal, written over and over."""

import io

from costboost.runtime.machine import TerminalLine


def screen(text):
    """Return what a terminal shows of one line, and where its cursor stands."""
    cells, at = [], 0
    for sign in text:
        if sign == "\r":
            at = 0
            continue
        cells[at : at + 1] = sign
        at += 1
    return "".join(cells), at


class Stream(io.StringIO):
    shown = ""

    def flush(self):
        self.shown = self.getvalue()


def test_a_shorter_text_leaves_nothing_of_a_longer_one():
    stream = Stream()
    line = TerminalLine(stream)
    for text in ("round 100 of 100", "done", "", "12345"):
        line.write(text)
        assert screen(stream.shown)[0].rstrip() == text  # flushed, too


def test_a_line_that_is_cleared_is_empty_and_begins_anew():
    stream = Stream()
    line = TerminalLine(stream)
    line.write("half of the rounds")
    line.clear()
    shown, cursor = screen(stream.shown)
    assert shown.strip() == ""
    assert cursor == 0
    line.write("next")
    assert screen(stream.shown)[0].rstrip() == "next"


def test_nothing_is_written_where_no_line_is_shown():
    stream = Stream()
    line = TerminalLine(stream)
    line.clear()
    assert stream.getvalue() == ""
    line.write("a")
    line.clear()
    written = stream.getvalue()
    line.clear()
    assert stream.getvalue() == written
