"""The lines and words of certificates that are texts."""

from traces import Refused, Unreadable, as_plain_number

BLANKS = " \t\r\n\f"


def lines(text):
    """The lines other than blank ones and comments, each with its number, from 1."""
    for number, line in enumerate(text.split("\n"), 1):
        words = [word for word in line.translate(str.maketrans("\t\r\f", "   ")).split(" ") if word]
        if words and not words[0].startswith("#"):
            yield number, words


class Reader:
    """Reads the words of a line; errors name the line."""

    def __init__(self, trace, number, words):
        self.trace, self.place, self.words = trace, f"line {number}", list(words)

    def word(self, expected):
        if not self.words:
            raise Unreadable(f"{self.place}: expected {expected}, found the end of the line")
        return self.words.pop(0)

    def number(self, expected="a number"):
        word = self.word(expected)
        number = as_plain_number(word)
        if number is None:
            raise Unreadable(f"{self.place}: expected {expected}, found {word}")
        return number

    def event(self):
        word = self.word("an event")
        event = self.trace.find_event(word)
        if event is None:
            raise Refused(self.place, f"the trace has no one event {word}")
        return event

    def task(self):
        word = self.word("a message")
        task = self.trace.find_task(word)
        if task is None:
            raise Refused(self.place, f"the trace has no one message {word}")
        return task

    def end(self):
        if self.words:
            raise Unreadable(f"{self.place}: expected the end of the line, found {self.words[0]}")


def header(numbered, expected):
    number, words = next(numbered, (1, []))
    if words != expected.split(" "):
        raise Unreadable(f"line {number}: expected `{expected}`")
