"""docs/performance.md and its plots: made by tests/bench/plots of the figures that lie beside them. No servers."""
import importlib.machinery
import importlib.util
import re
import subprocess
import sys

from support.config import ROOT

PAGE = ROOT / "docs/performance.md"
PERF_SCRIPT = """\
postonce
\tffffffff81 tcp_sendmsg ([kernel.kallsyms])
\tffffffff82 __sys_sendto ([kernel.kallsyms])
\tffffffff83 do_syscall_64 ([kernel.kallsyms])
\tffffffff84 entry_SYSCALL_64_after_hwframe ([kernel.kallsyms])
\t   1a __send@@GLIBC_2.2.5 (/lib/libc.so.6)
\t   1b [unknown] (/lib/libmariadb.so.3)
\t   1c [unknown] (/lib/libmariadb.so.3)
\t   1d halve.constprop.0 (/build/postonce)
\t   1e worker_run (/build/postonce)
\t   1f [unknown] ([unknown])

postonce
\t   1e worker_run (/build/postonce)

"""


def test_the_plots_are_what_the_script_makes_of_the_figures():
    done = subprocess.run([sys.executable, "-B", ROOT / "tests/bench/plots", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_shows_each_plot_that_is_there():
    shown = re.findall(r"\]\(performance/([\w-]+\.svg)\)", PAGE.read_text())
    assert sorted(shown) == sorted(path.name for path in (ROOT / "docs/performance").glob("*.svg"))


def test_stacks_are_folded_from_the_outermost_function_and_end_at_the_kernel(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests/bench")
    loader = importlib.machinery.SourceFileLoader("profile_bench", str(ROOT / "tests/bench/profile"))
    profile = importlib.util.module_from_spec(importlib.util.spec_from_loader("profile_bench", loader))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(profile)
    assert profile.folded(PERF_SCRIPT) == {
        "postonce;worker_run": 1,
        "postonce;worker_run;halve;[libmariadb.so.3];__send;__sys_sendto (kernel)": 1}
