"""The configuration and start of Apache Kafka brokers (KRaft) from the jars of the pom."""
import base64
import pathlib
import subprocess
import uuid

from .servers import Server, StartFailed, free_port
from .wait import tail

FORMAT_TIMEOUT_S = 120
# Room for test topics, not for load; SerialGC and C1 only, because two cores are shared with everything else.
JVM = ["-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
LOG4J = pathlib.Path(__file__).parent / "kafka" / "log4j2.properties"


def ready(server):
    """A metadata request that names every broker of the cluster."""
    from confluent_kafka.admin import AdminClient
    client = AdminClient({"bootstrap.servers": f"{server.host}:{server.port}", "log_level": 0,
                          "reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100})
    return len(client.list_topics(timeout=2).brokers) == server.brokers


class Secure:
    """Listeners beside the plain one: TLS alone, and TLS with a login (PLAIN: Debian's librdkafka repeats SCRAM's nonce,
    which brokers now refuse). certificate: a file with the server's certificate and key (PEM)."""

    def __init__(self, certificate, user, password):
        self.certificate, self.user, self.password = certificate, user, password
        self.ports = {"SSL": free_port(), "SASL_SSL": free_port()}

    def properties(self):
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": self.certificate,
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl_ssl.plain.sasl.jaas.config":
                "org.apache.kafka.common.security.plain.PlainLoginModule required"
                f' user_{self.user}="{self.password}";',
        }


def properties(node, brokers, port, controller_port, controller, data, secure=None):
    replicas = min(brokers, 3)
    controls = node == 1
    listeners = [f"PLAINTEXT://127.0.0.1:{port}"]
    if secure:
        listeners += [f"{name}://127.0.0.1:{secure_port}" for name, secure_port in secure.ports.items()]
    advertised = ",".join(listeners)
    if controls:
        listeners.append(f"CONTROLLER://127.0.0.1:{controller_port}")
    return {
        **(secure.properties() if secure else {}),
        "node.id": node,
        "process.roles": "broker,controller" if controls else "broker",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": ",".join(listeners),
        "advertised.listeners": advertised,
        "listener.security.protocol.map":
            "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL",
        "log.dirs": data,
        # Tests that wait for a dead member's session, or for a group to form, wait this long.
        "group.min.session.timeout.ms": 500,
        "group.initial.rebalance.delay.ms": 0,
        # A killed broker is let in again only when its old session is over; 9 s otherwise.
        "broker.session.timeout.ms": 3000,
        "broker.heartbeat.interval.ms": 500,
        "offsets.topic.num.partitions": 1,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.num.partitions": 1,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": 1,
        # A misspelt topic must be an error.
        "auto.create.topics.enable": "false",
        "num.network.threads": 2,
        "num.io.threads": 2,
        "log.cleaner.dedupe.buffer.size": 4 * 1024 * 1024,
        # Retention and compaction are looked after within a second, not within minutes; of topics that ask for
        # it: records with times long ago must last a test.
        "log.retention.ms": -1,
        "log.initial.task.delay.ms": 500,
        "log.retention.check.interval.ms": 500,
        "log.cleaner.backoff.ms": 200,
    }


def java(jars, *arguments):
    return ["java", *JVM, f"-Dlog4j2.configurationFile={LOG4J}", "-cp", f"{jars}/*", *arguments]


def prepare(directory, jars, brokers, save, secure=None):
    """Servers with formatted storage, not started. Formatting takes a second of JVM each, done side by side.
    secure: a Secure, for a single broker."""
    assert secure is None or brokers == 1
    # With a dash in front as one in 64 has it, as an argument of its own it would be taken for an option.
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    servers, formats = [], []
    controller = free_port()
    for node in range(1, brokers + 1):
        home = directory / f"kafka-{node}"
        home.mkdir()
        port = free_port()
        config = home / "server.properties"
        config.write_text("".join(f"{name}={value}\n" for name, value in properties(
            node, brokers, port, controller, controller, home / "data", secure).items()))
        facts = {"name": f"kafka-{node}", "host": "127.0.0.1", "port": port, "brokers": brokers,
                 "log": str(directory / f"kafka-{node}.log"), "datadir": str(home / "data"), "pid": 0, "started": 0,
                 "argv": java(jars, "kafka.Kafka", str(config))}
        servers.append(Server(facts, ready, save))
        with open(facts["log"], "ab") as log:
            formats.append(subprocess.Popen(
                java(jars, "kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", str(config)),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log))
    return servers, formats


def formatted(servers, formats):
    for server, process in zip(servers, formats):
        if process.wait(FORMAT_TIMEOUT_S) != 0:
            raise StartFailed(f"{server.name}: kafka.tools.StorageTool format failed\n{tail(server.log)}")
