"""The one place that polls: every wait of the tests is bounded and says what it waited for."""
import pathlib
import time

POLL_S = 0.02


def tail(path, lines=40):
    """The last lines of a log, headed by its place; for messages of failures."""
    try:
        text = pathlib.Path(path).read_text(errors="replace").splitlines()
    except OSError as error:
        text = [f"(cannot be read: {error})"]
    return "\n".join([f"--- last lines of {path}", *text[-lines:]])


def wait_until(condition, what, timeout=20.0, logs=()):
    """Returns the first true value of condition(). logs: files whose tails the failure shows."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            shown = [f"waited {timeout:g} s in vain: {what} (last seen: {value!r})"]
            raise AssertionError("\n".join(shown + [tail(log) for log in logs]))
        time.sleep(POLL_S)


def stays(condition, what, seconds):
    """The condition is true now and for so long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert condition(), f"not for {seconds:g} s: {what}"
        time.sleep(POLL_S)
