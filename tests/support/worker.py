"""postonce as a test runs it: commands to their end, workers as processes that can be hurt."""
import json
import os
import pathlib
import signal
import subprocess

from . import config as configuration
from .servers import free_port
from .wait import tail, wait_until

BINARY = pathlib.Path(os.environ.get("POSTONCE_BIN") or configuration.ROOT / "build-test" / "postonce")
COMMAND_TIMEOUT_S = 60
STOP_TIMEOUT_S = 30


class Worker:
    """A process of the program that runs until it is stopped, such as `postonce run`. log: its standard error and output; pid: its process."""

    def __init__(self, name, argv, environment, log):
        self.name, self.argv, self.log = name, argv, log
        with open(log, "ab") as out:
            self.process = subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.pid = self.process.pid

    def alive(self):
        return self.process.poll() is None

    def log_text(self):
        return pathlib.Path(self.log).read_text(errors="replace")

    def wait(self, timeout=STOP_TIMEOUT_S):
        """Until it ends by itself; its exit status (negative: the signal that ended it)."""
        wait_until(lambda: not self.alive(), f"{self.name} ends", timeout, [self.log])
        return self.process.returncode

    def stop(self, timeout=STOP_TIMEOUT_S):
        """SIGTERM; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait(timeout)

    def kill(self):
        """kill -9."""
        self.process.kill()
        self.process.wait()

    def freeze(self):
        """SIGSTOP; returns when it has really stopped."""
        self.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: not self.alive() or self.is_frozen(), f"{self.name} is frozen", 10)

    def is_frozen(self):
        return self._state() in "Tt"

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def _state(self):
        return pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]

    def clear_away(self):
        if self.alive():
            self.kill()


class Postonce:
    """The program with a configuration, a topic and a database of the test's own.

    topic, dead_letter_topic, group: names; config: the configuration as a dict; directory: its files and logs.
    """

    def __init__(self, directory, kafka, db, partitions=4):
        assert BINARY.exists(), f"{BINARY} is not there: build it (meson setup build-test -Dfailpoints=true)" \
                                " or set POSTONCE_BIN"
        self.directory, self.kafka, self.db = pathlib.Path(directory), kafka, db
        self.topic = kafka.topic(partitions)
        self.dead_letter_topic = kafka.topic(1, name=f"{self.topic}.DLT")
        self.group = f"g-{self.topic}"
        self.workers = []
        password_file = self.directory / "password"
        password_file.write_text(db.password)
        password_file.chmod(0o600)
        self.config = configuration.build(kafka.bootstrap, self.group, self.topic, self.dead_letter_topic, db,
                                          password_file)
        self.config_file = configuration.write(self.directory / "postonce.yaml", self.config)

    def configure(self, changes):
        """Lays changes over the configuration (None removes a member) for everything started from now on."""
        self.config = configuration.merge(self.config, changes)
        configuration.write(self.config_file, self.config)

    def _environment(self, failpoints, env):
        environment = {name: value for name, value in os.environ.items() if name != "POSTONCE_FAILPOINTS"}
        if failpoints:
            environment["POSTONCE_FAILPOINTS"] = failpoints
        return {**environment, **(env or {})}

    def run(self, *args, check=True, timeout=COMMAND_TIMEOUT_S, config=None, input=None, failpoints=None, env=None):
        """A command to its end: a CompletedProcess with text in stdout and stderr. check: its status must be 0.
        config: another file; False leaves --config away."""
        argv = [str(BINARY), *map(str, args)]
        if config is not False:
            argv += ["--config", str(config or self.config_file)]
        given = {"input": input} if input is not None else {"stdin": subprocess.DEVNULL}
        done = subprocess.run(argv, env=self._environment(failpoints, env), capture_output=True, text=True,
                              timeout=timeout, **given)
        if check:
            assert done.returncode == 0, f"{' '.join(argv)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def migrate(self):
        return self.run("migrate")

    def start(self, *args, changes=None, failpoints=None, env=None, command="run"):
        """Starts a worker and does not wait for it. changes: laid over the configuration for this worker only.
        command: another one that runs until it is stopped."""
        name = f"{'worker' if command == 'run' else command}-{len(self.workers) + 1}"
        config = self.config_file
        if changes:
            config = configuration.write(self.directory / f"{name}.yaml",
                                         configuration.merge(self.config, changes))
        worker = Worker(name, [str(BINARY), command, *args, "--config", str(config)],
                        self._environment(failpoints, env), self.directory / f"{name}.log")
        self.workers.append(worker)
        return worker

    def drain(self, workers=1, timeout=60, **options):
        """Starts workers with --until-end and waits for all; returns their exit statuses."""
        started = [self.start("--until-end", **options) for _ in range(workers)]
        return [worker.wait(timeout) for worker in started]

    def publish(self, *notifications, **place):
        """Produces each to the topic: a dict as JSON, bytes as they are. place: key, headers, partition, timestamp.
        Returns [(partition, offset)]."""
        values = [json.dumps(one, ensure_ascii=False).encode() if isinstance(one, dict) else one
                  for one in notifications]
        return self.kafka.produce_many(self.topic, [{"value": value, **place} for value in values])

    def wait_for(self, condition, what, timeout=30):
        """wait_until, which on failure also shows what the workers said."""
        return wait_until(condition, what, timeout, self.logs())

    def wait_for_lag(self, lag=0, timeout=60):
        """Until the group's committed offsets are this far from the ends."""
        return self.wait_for(lambda: self.kafka.lag(self.group, self.topic) == lag, f"lag {lag}", timeout)

    def dead_letters(self):
        return self.kafka.consume(self.dead_letter_topic)

    def logs(self):
        return [worker.log for worker in self.workers]

    def tails(self):
        return "\n".join(tail(log) for log in self.logs())

    def close(self):
        for worker in self.workers:
            worker.clear_away()


def notification(txn, order_no, amount_minor=1000, event="PAYMENT_RECEIVED", channel="WECHAT", currency="CNY",
                 **more):
    """A notification in postonce's own envelope."""
    return {"channel": channel, "tenant_id": 1, "txn": txn, "event": event, "order_no": order_no,
            "amount_minor": amount_minor, "currency": currency, "occurred_at": "2026-11-11T12:00:00+08:00", **more}


__all__ = ["Postonce", "Worker", "notification", "free_port", "wait_until"]
