"""Downloads of the tests, each made aside and renamed, so that what is in the cache is whole.

They are kept in ${POSTONCE_CACHE:-~/.cache/postonce} and never refreshed: remove a folder to fetch it again.
"""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

ATTEMPTS = 3
FETCH_TIMEOUT_S = 600
POM = pathlib.Path(__file__).parent / "kafka" / "pom.xml"


class Unavailable(Exception):
    """It cannot be had here, for a reason that is not the product's fault."""


def say(text):
    print(f"with-services: {text}", file=sys.stderr, flush=True)


def cache():
    path = pathlib.Path(os.environ.get("POSTONCE_CACHE") or "~/.cache/postonce").expanduser().absolute()
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def one_at_a_time(name):
    """Two runs on one machine must not build the same folder."""
    with open(cache() / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def discard(path):
    # debootstrap mounts /proc inside while it works; an interrupted one may have left it there.
    subprocess.run(["rm", "-rf", "--one-file-system", str(path)], check=False, stderr=subprocess.DEVNULL)
    if path.exists():
        for mount in ("proc", "sys"):
            subprocess.run(["umount", str(path / mount)], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--one-file-system", str(path)], check=True)


def fetch(name, what, command):
    """Folder `name` of the cache, made by command(partial) if it is not there. Raises Unavailable."""
    target = cache() / name
    with one_at_a_time(name):
        if target.exists():
            return target
        partial = target.with_name(name + ".partial")
        log = cache() / f"{name}.log"
        for attempt in range(1, ATTEMPTS + 1):
            discard(partial)
            say(f"fetching {what}, kept in {target} (log: {log})")
            with open(log, "ab") as out:
                try:
                    done = subprocess.run(command(partial), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                          timeout=FETCH_TIMEOUT_S).returncode == 0
                except subprocess.TimeoutExpired:
                    done = False
            if done:
                partial.rename(target)
                return target
            say(f"attempt {attempt} of {ATTEMPTS} failed")
            if attempt < ATTEMPTS:
                time.sleep(3 * attempt)
        discard(partial)
        last = next(reversed(log.read_text(errors="replace").splitlines()), "nothing")
        raise Unavailable(f"{what} could not be fetched in {ATTEMPTS} attempts; {log} ends: {last}")


def kafka_jars():
    """The folder of the broker's jars, named after the pom that lists them."""
    version = hashlib.sha256(POM.read_bytes()).hexdigest()[:12]
    return fetch(f"kafka-{version}", "the jars of Apache Kafka (54 MB)", lambda partial: [
        "mvn", "-B", "-q", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={partial}"])


def debian_mirror():
    """Where apt on this machine takes Debian itself from."""
    release = pathlib.Path("/etc/os-release").read_text()
    codename = next((line.split("=")[1].strip('"') for line in release.splitlines()
                     if line.startswith("VERSION_CODENAME=")), "")
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(SITE)"],
                            capture_output=True, text=True, check=False).stdout
    for line in listed.splitlines():
        suite, component, site = line.split(maxsplit=2)
        if suite in (codename, "stable") and component == "main" and "security" not in site:
            return site
    raise Unavailable("apt knows no mirror of Debian main to take MySQL from")


def is_mysql(program):
    """Debian's MariaDB brings a link named mysqld."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return bool(version) and "MariaDB" not in version


def mysql_root():
    """(root folder, program): where MySQL's own server is to be run; "/" if this machine has one installed."""
    for candidate in (shutil.which("mysqld"), "/usr/sbin/mysqld"):
        if candidate and os.path.exists(candidate) and is_mysql(candidate):
            return pathlib.Path("/"), candidate
    if os.geteuid() != 0:
        raise Unavailable("MySQL is not installed, and unpacking one (debootstrap, chroot) needs root")
    if not shutil.which("debootstrap"):
        raise Unavailable("MySQL is not installed and debootstrap is missing; tests/install-deps brings it")
    root = fetch("mysql-sid", "MySQL from Debian sid (560 MB)", lambda partial: [
        "debootstrap", "--variant=minbase", "--include=mysql-server-core", "sid", str(partial), debian_mirror()])
    return root, "/usr/sbin/mysqld"
