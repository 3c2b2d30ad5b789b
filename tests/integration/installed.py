"""libpostonce as a program outside of this tree sees it: installed, found by pkg-config, linked."""
import json
import os
import pathlib
import subprocess

from support.config import ROOT
from support.worker import BINARY

BUILD = BINARY.resolve().parent
SOURCES = ROOT / "tests/library"
INSTALL_TIMEOUT_S, COMPILE_TIMEOUT_S, RUN_TIMEOUT_S = 300, 120, 60
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def run(*argv, timeout=COMPILE_TIMEOUT_S, **options):
    done = subprocess.run([str(one) for one in argv], capture_output=True, text=True, timeout=timeout, check=False,
                          **options)
    assert done.returncode == 0, f"{argv}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


class Installed:
    """The tree that `meson install` makes below directory."""

    def __init__(self, directory):
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", directory, timeout=INSTALL_TIMEOUT_S)
        self.directory = directory
        [self.pc] = directory.rglob("postonce.pc")
        [self.library] = directory.rglob("libpostonce.so")
        [self.headers] = directory.rglob("include/postonce")
        options = json.loads(run("meson", "introspect", BUILD, "--buildoptions"))
        [sanitize] = [option["value"] for option in options if option["name"] == "b_sanitize"]
        self.sanitize = [] if sanitize == "none" else [f"-fsanitize={sanitize}"]

    def flags(self, *what):
        """pkg-config's, where the tree stands now."""
        return run("pkg-config", *what, "postonce",
                   env={**os.environ, "PKG_CONFIG_PATH": str(self.pc.parent),
                        "PKG_CONFIG_SYSROOT_DIR": str(self.directory)}).split()

    def compile(self, name, *more):
        """A program of tests/library, from its source and the installed tree alone."""
        program = self.directory / name
        run("gcc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", *WARNINGS, *self.sanitize, "-o", program,
            SOURCES / f"{name}.c", *self.flags("--cflags", "--libs"), *more)
        return program

    def environment(self, db, password_file):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.library.parent)}
        if db is not None:
            environment |= {"DB_HOST": db.host, "DB_PORT": str(db.port), "DB_USER": db.user, "DB_NAME": db.name,
                            "DB_PASSWORD_FILE": str(password_file)}
        return environment


class Program:
    """A compiled one, against a database (or none)."""

    def __init__(self, installed, path, db=None, directory=None):
        self.path = path
        password_file = None
        if db is not None:
            password_file = pathlib.Path(directory) / "password"
            password_file.write_text(db.password)
        self.environment = installed.environment(db, password_file)

    def start(self, *args):
        return subprocess.Popen([str(self.path), *map(str, args)], env=self.environment, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, *args, input=""):
        """(exit status, lines of output)"""
        process = self.start(*args)
        out, _ = process.communicate(input, timeout=RUN_TIMEOUT_S)
        return process.returncode, out.splitlines()
