"""The stages of tests/run and their count. Every stage is bounded, keeps its log, and adds cases to one result."""
import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree

from shards import split

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build-test"
LOGS = BUILD / "logs"
PYTHON = "/usr/bin/python3"
BUILD_TIMEOUT_S = 600
UNIT_TIMEOUT_S = 120
UNIT_PARALLEL = 6
TIDY_TIMEOUT_S = 60
SERVERS_TIMEOUT_S = {"normal": 2700, "all": 7200}
SHARDS = 2          # pytests that run beside each other, each with servers of its own
FUZZ_S = 120        # for each target of tests/fuzz
GRACE_S = 60        # from our SIGTERM to the SIGKILL of a stage: with-services stops its servers in between
TAIL_LINES = 40


class Result:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []

    def fail(self, case, log, why=""):
        """Said at once and again at the end, with the end of the log."""
        print(f"FAILED {case}{': ' + why if why else ''} (log: {shown(log)})", flush=True)
        self.failed.append((case, why, log))

    def finish(self):
        for case, why, log in self.failed:
            print(f"\nFAILED {case}{': ' + why if why else ''}\n  log: {shown(log)}")
        for log in dict.fromkeys(log for _, _, log in self.failed):
            print(f"\n--- last lines of {shown(log)}\n{tail(log)}")
        for reason, count in sorted({reason: self.skipped.count(reason) for reason in self.skipped}.items()):
            print(f"SKIPPED {count}: {reason}")
        nothing = not self.passed and not self.failed
        if nothing:
            print("FAILED: nothing was run")
        line = f"{self.passed} passed, {len(self.failed)} failed"
        print(line + (f", {len(self.skipped)} skipped" if self.skipped else ""), flush=True)
        return 1 if self.failed or nothing else 0


def shown(path):
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def tail(path):
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-TAIL_LINES:])
    except OSError:
        return "(no log)"


class Stage:
    """A command with its output in log (and on ours, each line after `prefix`, if that is not None)."""

    def __init__(self, command, log, env=None, prefix=None):
        self.command, self.log, self.env, self.prefix = command, log, env, prefix
        self.child, self.echo, self.over = None, None, False

    def start(self):
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "wb") as out:
            self.child = subprocess.Popen([str(part) for part in self.command], cwd=ROOT,
                                          env={**os.environ, **(self.env or {})}, stdin=subprocess.DEVNULL,
                                          stdout=out if self.prefix is None else subprocess.PIPE,
                                          stderr=subprocess.STDOUT, start_new_session=True)
        if self.prefix is not None:
            self.echo = threading.Thread(target=self._pass_on, daemon=True)
            self.echo.start()

    def _pass_on(self):
        with open(self.log, "ab") as out:
            for line in self.child.stdout:
                out.write(line)
                out.flush()
                # One write a line: another stage writes beside us.
                sys.stdout.write(self.prefix + line.decode(errors="replace"))
                sys.stdout.flush()

    def wait_until(self, deadline):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(max(0, deadline - time.monotonic()))
        return self.child.returncode is not None

    def close(self):
        end_group(self.child)
        if self.echo:
            self.echo.join(GRACE_S)


def run_beside(stages, timeout):
    """Runs all of them to their end: each one's status, None for one whose time was over."""
    try:
        for stage in stages:
            stage.start()
        deadline = time.monotonic() + timeout
        for stage in stages:
            stage.over = not stage.wait_until(deadline)
        end_kindly([stage for stage in stages if stage.over])
    except Interrupted:
        end_kindly([stage for stage in stages if stage.child])
        raise
    finally:
        for stage in stages:
            if stage.child:
                stage.close()
    return [None if stage.over else stage.child.returncode for stage in stages]


def end_kindly(stages):
    """with-services needs a moment to stop its servers; what is left then is ended by close()."""
    for stage in stages:
        stage.child.terminate()
    deadline = time.monotonic() + GRACE_S
    for stage in stages:
        stage.wait_until(deadline)


def run_alone(command, log, timeout, env=None):
    return run_beside([Stage(command, log, env)], timeout)[0]


def end_group(child):
    """A stage leads a process group of its own: what is left of it ends with it."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


class Interrupted(BaseException):
    """A signal told us to stop."""


def interrupted(number, _frame):
    # Not handled here: the wait that this interrupts holds the lock of its child.
    raise Interrupted(number)


def build(result, name, folder, options, env=None, says=True):
    """Configures and compiles; a case of its own in the count where `says`."""
    print(f"== build {name}", flush=True)
    target = ROOT / folder
    setup = ["meson", "setup", *(["--reconfigure"] if (target / "meson-private/coredata.dat").exists() else []),
             *options, target]
    compile_it = ["ninja", "-C", target]
    # cleandead: the binary of a test that is gone must not be counted.
    for step, command in (("setup", setup), ("compile", compile_it), ("clean", [*compile_it, "-t", "cleandead"])):
        part = LOGS / f"build-{name}.{step}.log"
        status = run_alone(command, part, BUILD_TIMEOUT_S, env)
        if status != 0:
            result.fail(f"build {name}", part, "took too long" if status is None else f"{step}: exit {status}")
            return False
    if says:
        result.passed += 1
    return True


def release_build(result):
    """Builds as packagers do, and looks that no failpoint is in the program."""
    if not build(result, "release", "build-release",
                 ["--buildtype=release", "-Dfailpoints=false", "-Dwerror=true", "-Dtests=false"]):
        return
    log = LOGS / "release-symbols.log"
    program = ROOT / "build-release" / "postonce"
    script = '{ nm -a "$1"; nm -D "$1"; strings -a "$1"; } | grep -i -e "fiu_" -e libfiu -e POSTONCE_FAILPOINTS'
    status = run_alone(["bash", "-c", f"set -e; test -x \"$1\"; ! {script}", "-", program], log, TIDY_TIMEOUT_S)
    if status == 0:
        result.passed += 1
    else:
        result.fail("release build has no failpoints", log)


def fuzz(result):
    """Every fuzz target for some time, from its seeds on; what it found before is kept in build-fuzz/corpus.

    What makes one crash is in logs/crash-TARGET-…; mended, it becomes a file of tests/fuzz/seeds/TARGET.
    """
    if not build(result, "fuzz", "build-fuzz", ["-Dfuzzing=true", "-Dtests=false", "-Db_lundef=false"], {"CC": "clang"}):
        return
    listed = re.findall(r'X\((\w+), "(.*?)"\)', (ROOT / "tests/fuzz/fuzz.h").read_text())
    for target, folder in listed:
        print(f"== fuzz {target}", flush=True)
        corpus, log = ROOT / "build-fuzz/corpus" / target, LOGS / f"fuzz-{target}.log"
        corpus.mkdir(parents=True, exist_ok=True)
        seeds = [ROOT / "tests/fuzz/seeds" / target, *([ROOT / folder] if folder else [])]
        status = run_alone([ROOT / "build-fuzz/tests/fuzz" / f"fuzz_{target}", f"-max_total_time={FUZZ_S}", "-timeout=10",
                            "-max_len=8192", f"-artifact_prefix={LOGS}/crash-{target}-", corpus, *seeds],
                           log, FUZZ_S + BUILD_TIMEOUT_S, {"POSTONCE_SOURCE": str(ROOT)})
        if status == 0:
            result.passed += 1
        else:
            result.fail(f"fuzz {target}", log, "took too long" if status is None else f"exit {status}")


def unit_test(binary):
    """One binary to its end; its status, None if the time was over. Not a Stage: only the main thread can be interrupted."""
    tap, log = LOGS / "unit" / f"{binary.name}.tap", LOGS / "unit" / f"{binary.name}.log"
    tap.unlink(missing_ok=True)
    with open(log, "wb") as out:
        child = subprocess.Popen([binary], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 start_new_session=True,
                                 env={**os.environ, "CK_TAP_LOG_FILE_NAME": str(tap), "POSTONCE_SOURCE": str(ROOT)})
        try:
            status = child.wait(UNIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            end_group(child)
    return binary.name, tap, log, status


def unit_tests(result):
    """Runs each test_* itself, not through `meson test`, because cases are counted, not binaries.

    Several at once: those with a mock broker wait for most of their time.
    """
    print("== unit tests", flush=True)
    folder = BUILD / "tests" / "unit"
    (LOGS / "unit").mkdir(parents=True, exist_ok=True)
    binaries = sorted(path for path in folder.glob("test_*") if path.is_file() and os.access(path, os.X_OK))
    with concurrent.futures.ThreadPoolExecutor(UNIT_PARALLEL) as pool:
        for name, tap, log, status in pool.map(unit_test, binaries):
            count_tap(result, name, tap, log, status)


def count_tap(result, name, tap, log, status):
    lines = tap.read_text(errors="replace").splitlines() if tap.exists() else []
    plan = [int(line[3:].split()[0]) for line in lines if re.match(r"1\.\.\d+", line)]
    good = [line for line in lines if re.match(r"ok \d+", line)]
    bad = [line for line in lines if re.match(r"not ok \d+", line)]
    result.passed += len(good)
    for line in bad:
        result.fail(name, tap, line.partition(" - ")[2] or line)
    if bad:
        return
    if status is None:
        result.fail(name, log, f"took longer than {UNIT_TIMEOUT_S} s")
    elif status != 0:
        result.fail(name, log, f"exit {status} and no case failed")
    elif not plan:
        result.fail(name, log, "prints no TAP plan")
    elif plan[0] != len(good):
        result.fail(name, tap, f"planned {plan[0]} cases, ran {len(good)}")


def tidy(result):
    print("== tidy", flush=True)
    log = LOGS / "tidy.log"
    if not (ROOT / "tests" / "tidy.py").exists():
        log.write_text("tests/tidy.py is not there\n")
    status = run_alone([PYTHON, "-B", "tests/tidy.py"], log, TIDY_TIMEOUT_S)
    if status == 0:
        result.passed += 1
    else:
        result.fail("tidy", log, f"exit {status}")


def server_tests(result, tier, expression):
    """Half of the files beside the other half, each on servers of its own: they mostly wait."""
    print("== integration and fault tests on real servers", flush=True)
    files = [path for folder in ("integration", "fault", "model") for path in (ROOT / "tests" / folder).glob("test_*.py")]
    parts = split(files, 1 if expression else SHARDS)
    chosen = ["-k", expression] if expression else []
    if tier != "all":
        chosen += ["-m", "not slow"]
    stages, reports = [], []
    for number, part in enumerate(parts, 1):
        name = f"pytest-{number}"
        reports.append(LOGS / f"{name}.xml")
        reports[-1].unlink(missing_ok=True)
        stages.append(Stage(["tests/with-services", PYTHON, "-B", "-m", "pytest", *part, *chosen,
                             "--junitxml", reports[-1], "-o", "junit_family=xunit2", f"--basetemp={LOGS / name}"],
                            LOGS / f"{name}.log", prefix=f"{number}| " if len(parts) > 1 else ""))
    statuses = run_beside(stages, SERVERS_TIMEOUT_S["all" if tier == "all" else "normal"])
    for stage, report, status in zip(stages, reports, statuses):
        failed = count_junit(result, report, stage.log) if report.exists() else 0
        if status is None:
            result.fail(f"server tests ({stage.log.stem})", stage.log, "took too long")
        elif status != 0 and not failed:
            result.fail(f"server tests ({stage.log.stem})", stage.log, f"exit {status}")


def count_junit(result, report, log):
    """Adds its cases; returns how many failed. A case with a failure and an error in its teardown counts once."""
    cases = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        kinds = {child.tag: child for child in case}
        worst = next((kind for kind in ("failure", "error", "skipped") if kind in kinds), "passed")
        known = cases.get(name, ("passed", ""))
        if worst in ("failure", "error") or known[0] == "passed":
            message = (kinds[worst].get("message") or "").strip() if worst in kinds else ""
            cases[name] = (worst, message.splitlines()[0] if message else "")
    for name, (kind, message) in cases.items():
        if kind == "passed":
            result.passed += 1
        elif kind == "skipped":
            result.skipped.append(message)
        else:
            result.fail(name, log, message)
    return sum(kind in ("failure", "error") for kind, _ in cases.values())


def main():
    parser = argparse.ArgumentParser(prog="tests/run", description="Builds and tests everything.")
    tier = parser.add_mutually_exclusive_group()
    tier.add_argument("--quick", dest="tier", action="store_const", const="quick", default="normal",
                      help="build, unit tests and tidy only")
    tier.add_argument("--all", dest="tier", action="store_const", const="all", help="also the slow tests, and each fuzz target for some minutes")
    parser.add_argument("-k", dest="expression", metavar="EXPR",
                        help="only the integration and fault tests that match (pytest's -k)")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)

    result = Result()
    LOGS.mkdir(parents=True, exist_ok=True)
    built = build(result, "test", "build-test", ["-Dfailpoints=true", "-Dwerror=true"], says=False)
    if built and not options.expression:
        unit_tests(result)
        tidy(result)
        if options.tier != "quick":
            build(result, "clang", "build-clang", ["-Dfailpoints=true", "-Dwerror=true"], {"CC": "clang"})
            release_build(result)
        if options.tier == "all":
            fuzz(result)
    if built and options.tier != "quick":
        server_tests(result, options.tier, options.expression)
    return result.finish()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Interrupted as stop:
        sys.exit(128 + stop.args[0])
