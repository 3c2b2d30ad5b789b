"""The start of private MySQL and MariaDB servers, with the durability a ledger is run with."""
import os
import pathlib
import secrets
import shutil
import subprocess
import tempfile

from . import fetch
from .servers import Server, StartFailed, free_port
from .wait import tail

INITIALIZE_TIMEOUT_S = 180
USER = "postonce"
BUFFER_POOL = "256M"
COMMON = ["--bind-address=127.0.0.1", "--skip-name-resolve",
          "--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1", "--max-connections=200"]


def connect(server, **options):
    import pymysql
    return pymysql.connect(**{"host": server.host, "port": server.port, "user": server.user,
                              "password": server.password, "autocommit": True, "charset": "utf8mb4",
                              "connect_timeout": 5, "read_timeout": 60, **options})


def version(server):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT VERSION()")
        return cursor.fetchone()[0]


def ready(server):
    found = version(server)
    if server.name == "mariadb":
        return "MariaDB" in found
    return "MariaDB" not in found and found.startswith(("8.", "9."))


def users_sql(password):
    """Run by the server itself at its first start, so that nothing ever logs in without a password."""
    return (f"DROP USER IF EXISTS ''@'localhost';\n"
            f"ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}';\n"
            f"CREATE USER '{USER}'@'%' IDENTIFIED BY '{password}';\n"
            f"GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'%' WITH GRANT OPTION;\n")


class Preparation:
    """A server whose data are being made: `initialize` runs beside the others', `started` uses it."""

    def __init__(self, name, directory, home, inside, save, buffer_pool):
        """home: the server's own folder; inside: the same as the server sees it (another name under chroot)."""
        self.home = home
        password = secrets.token_hex(12)
        (home / "users.sql").write_text(users_sql(password))
        (home / "tmp").mkdir()
        self.first_start = [f"--init-file={inside}/users.sql"]
        self.log = directory / f"{name}.log"
        port = free_port()
        self.facts = {"name": name, "host": "127.0.0.1", "port": port, "user": USER, "password": password,
                      "socket": str(home / "socket"), "datadir": str(home / "data"), "home": str(home),
                      "log": str(self.log), "pid": 0, "started": 0, "argv": []}
        self.server = Server(self.facts, ready, save)
        # A server that starts deletes temporary tables that it finds, also those of another one that runs.
        self.common = [f"--datadir={inside}/data", f"--tmpdir={inside}/tmp", f"--socket={inside}/socket",
                       f"--pid-file={inside}/pid",
                       f"--port={port}", f"--innodb-buffer-pool-size={buffer_pool}", *COMMON]

    def begin(self, command):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/")

    def initialized(self):
        if self.process.wait(INITIALIZE_TIMEOUT_S) != 0:
            raise StartFailed(f"{self.facts['name']}: the data could not be initialized\n{tail(self.log)}")


def as_root():
    """A server started by root wants to be told that it is meant; these live as long as a test run."""
    return ["--user=root"] if os.geteuid() == 0 else []


def prepare_mysql(directory, save, buffer_pool=BUFFER_POOL):
    """Raises fetch.Unavailable if there is no MySQL to be had."""
    root, program = fetch.mysql_root()
    unpacked = root != pathlib.Path("/")
    home = pathlib.Path(tempfile.mkdtemp(prefix="postonce-", dir=root / "tmp" if unpacked else directory))
    inside = pathlib.Path("/") / home.relative_to(root)
    run = ["chroot", str(root), program] if unpacked else [program]
    preparation = Preparation("mysql", directory, home, inside, save, buffer_pool)
    base = [*run, "--no-defaults", *as_root(), *preparation.common, "--mysqlx=OFF",
            "--secure-file-priv=NULL"]  # its default is a folder that only the full package makes
    preparation.facts["argv"] = base
    preparation.begin([*base, "--initialize-insecure"])
    return preparation


def prepare_mariadb(directory, save, buffer_pool=BUFFER_POOL):
    home = pathlib.Path(tempfile.mkdtemp(prefix="mariadb-", dir=directory))
    program = shutil.which("mariadbd") or "/usr/sbin/mariadbd"
    installer = shutil.which("mariadb-install-db")
    if not installer or not os.path.exists(program):
        raise StartFailed("mariadbd and mariadb-install-db are missing; tests/install-deps brings them")
    preparation = Preparation("mariadb", directory, home, home, save, buffer_pool)
    preparation.facts["argv"] = [program, "--no-defaults", *as_root(), *preparation.common]
    # force: it refuses to go on where the machine's own name has no address, as in a container.
    preparation.begin([installer, "--no-defaults", *as_root(), f"--datadir={home}/data", f"--tmpdir={home}/tmp",
                       "--skip-test-db", "--force", "--auth-root-authentication-method=normal"])
    return preparation
