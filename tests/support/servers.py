"""Server processes that outlive the program that started them, and the file that remembers them.

tests/with-services starts the servers and writes the file; a test may stop and start them again through the
same file, so that with-services, at its end, stops what is running then. Processes are known by pid and start
time: a pid that was given to another process meanwhile is left alone.
"""
import ctypes
import json
import os
import pathlib
import random
import signal
import socket
import subprocess

from .wait import tail, wait_until

STATE_VARIABLE = "POSTONCE_TEST_SERVICES"
START_TIMEOUT_S = 90
STOP_TIMEOUT_S = 60
PR_SET_PDEATHSIG = 1


class StartFailed(Exception):
    """A server that did not come up; the message has the tail of its log."""


def free_port():
    """A port of 127.0.0.1 nobody listens on. Below the kernel's range for outgoing connections: while a
    test has its server stopped, a client's connection would otherwise take the port."""
    first_outgoing = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(200):
        port = random.randrange(10000, first_outgoing) if first_outgoing > 11000 else 0
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise StartFailed("no free port on 127.0.0.1 found in 200 tries")


def process_stat(pid):
    """(state, parent, start time) of a process, None if there is none."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return fields[0], int(fields[1]), int(fields[19])


def die_with_parent():
    """Run in the child: should with-services itself be killed, no server stays behind."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Server:
    """One server. `facts` is what the state file holds of it: name, argv, host, port, log, pid, started, and what
    its kind adds (user, password, socket, datadir for databases)."""

    def __init__(self, facts, ready, save=lambda: None):
        self.facts = facts
        self._ready = ready
        self._save = save

    def __getattr__(self, name):
        try:
            return self.__dict__["facts"][name]
        except KeyError:
            raise AttributeError(name) from None

    def launch(self, extra=(), bound_to_parent=False):
        """Starts the process and does not wait for it. extra: arguments of this start only."""
        with open(self.log, "ab") as log:
            child = subprocess.Popen([*self.argv, *extra], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                     start_new_session=True, cwd="/",
                                     preexec_fn=die_with_parent if bound_to_parent else None)
        # Whoever ends it may be another process; the Popen object is not what its life depends on.
        child.returncode = 0
        stat = process_stat(child.pid)
        self.facts.update(pid=child.pid, started=stat[2] if stat else 0)
        self._save()

    def alive(self):
        self._reap()
        stat = process_stat(self.pid) if self.pid else None
        return bool(stat and stat[0] != "Z" and stat[2] == self.started)

    def _gone(self):
        # Not even a zombie: mysqld takes one for the living owner of its socket. with-services reaps.
        self._reap()
        stat = process_stat(self.pid)
        return stat is None or stat[2] != self.started

    def _reap(self):
        try:
            os.waitpid(self.pid, os.WNOHANG)
        except (ChildProcessError, TypeError):
            pass  # started by another process, which reaps it

    def answers(self):
        try:
            return self._ready(self)
        except Exception as error:  # any refusal means "not yet"; the last one is shown if it stays so
            self._last_error = error
            return False

    def wait_ready(self, timeout=START_TIMEOUT_S):
        """Until it answers like a server; StartFailed as soon as it has ended, or when the time is over."""
        self._last_error = None
        try:
            wait_until(lambda: not self.alive() or self.answers(), f"{self.name} answers", timeout)
        except AssertionError:
            raise StartFailed(f"{self.name} did not answer on port {self.port} within {timeout} s"
                              f" ({self._last_error})\n{tail(self.log)}") from None
        if not self.alive():
            raise StartFailed(f"{self.name} ended while starting\n{tail(self.log)}")

    def start(self, timeout=START_TIMEOUT_S):
        """Starts it again on the same port and data, and waits until it answers."""
        assert not self.alive(), f"{self.name} is running already"
        self.launch()
        self.wait_ready(timeout)

    def _end(self, sig, timeout):
        if self.alive():
            os.kill(self.pid, sig)
            wait_until(self._gone, f"{self.name} (pid {self.pid}) ends", timeout, [self.log])

    def stop(self, timeout=STOP_TIMEOUT_S):
        """An orderly shutdown (SIGTERM)."""
        self._end(signal.SIGTERM, timeout)

    def kill(self):
        """As if the machine's power went: SIGKILL."""
        self._end(signal.SIGKILL, STOP_TIMEOUT_S)

    def freeze(self):
        """Connections stay open and nothing answers: SIGSTOP."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self):
        if self.alive():
            os.kill(self.pid, signal.SIGCONT)

    def ensure_running(self):
        """Whatever a test did to it: thawed, started, answering."""
        self.thaw()
        if not self.alive():
            self.launch()
        self.wait_ready()


class Services:
    """All servers of one run, and their state file."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.kafka = []       # Server, one a broker
        self.databases = []   # Server, the primary first
        self.skipped = {}     # name of a server that was asked for -> why it is not there

    def save(self):
        state = {"kafka": [server.facts for server in self.kafka],
                 "databases": [server.facts for server in self.databases], "skipped": self.skipped}
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps(state, indent=2))
        partial.replace(self.path)

    @classmethod
    def load(cls, path=None):
        from . import broker, databases
        path = path or os.environ.get(STATE_VARIABLE)
        if not path:
            raise RuntimeError("no servers: run this under tests/with-services")
        state = json.loads(pathlib.Path(path).read_text())
        services = cls(path)
        services.skipped = state["skipped"]
        services.kafka = [Server(facts, broker.ready, services.save) for facts in state["kafka"]]
        services.databases = [Server(facts, databases.ready, services.save) for facts in state["databases"]]
        return services

    def database(self, name=None):
        """The named database server ("mysql", "mariadb"), or the primary one."""
        for server in self.databases:
            if name in (None, server.name):
                return server
        raise KeyError(f"no database server {name or ''} is running: {self.skipped or 'none was asked for'}")
