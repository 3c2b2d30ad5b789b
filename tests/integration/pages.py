"""A worker's pages, as a monitor reads them."""
import re
import urllib.error
import urllib.request

from support.servers import free_port
from support.wait import wait_until

ANSWER_S = 20


class Pages:
    """options: what a worker must be started with; get(path) is (status, text), (0, why) without an answer."""

    def __init__(self):
        self.port = free_port()
        self.options = {"http": {"port": self.port}}

    def get(self, path, method="GET"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method)
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()
        except OSError as error:
            return 0, str(error)

    def is_ready(self):
        return self.get("/readyz")[0] == 200

    def is_red(self):
        return self.get("/readyz")[0] == 503

    def figures(self):
        """{name with its labels: number}. Waits for the page: a worker that was just started serves it a moment later."""
        text = wait_until(self._metrics, f"/metrics answers at port {self.port}", ANSWER_S)
        return {name: int(value) for name, value in re.findall(r"^(postonce_\S+) (-?\d+)$", text, re.MULTILINE)}

    def _metrics(self):
        status, text = self.get("/metrics")
        return text if status == 200 else None

    def figure(self, name):
        return self.figures().get(name)

    def verdicts(self, verdict):
        return self.figure(f'postonce_notifications_total{{verdict="{verdict}"}}')
