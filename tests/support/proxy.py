"""A TCP proxy before a MySQL server that loses what a network may lose, at a chosen statement.

It reads the client's packets (3 bytes of length, one of sequence) well enough to know the text of each COM_QUERY.
It cannot look into TLS or compressed connections and fails loudly at them.
"""
import re
import socket
import struct
import threading

from .wait import wait_until

COM_QUERY = 0x03
CLIENT_SSL = 0x800
CLIENT_COMPRESS = 0x20
NO_PARAMETERS = b"\x00\x01"  # before the text when query attributes were agreed upon (Oracle's client library)
CHUNK_BYTES = 65536


class Trap:
    """Waits for the nth COM_QUERY that matches from now on. `struck` is set when it has done its work; `text` is
    the statement it struck."""

    def __init__(self, action, pattern, nth):
        self.action = action
        self.pattern = re.compile(pattern)
        self.left = nth
        self.text = None
        self.struck = threading.Event()


class Proxy:
    """with Proxy(host, port) as proxy: the client connects to proxy.host and proxy.port."""

    def __init__(self, server_host, server_port):
        self._server = (server_host, server_port)
        self._lock = threading.Lock()
        self._connections = set()
        self._traps = []
        self._flowing = threading.Event()
        self._flowing.set()
        self._listener = None
        self.problem = None  # why it could not follow a connection
        self.host, self.port = "127.0.0.1", 0
        self.accept()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # What a test may do to the network.

    def drop_reply(self, pattern, nth=1):
        """The nth statement from now on that matches goes to the server; its reply is awaited, then thrown away
        and both sides closed: the client cannot know what became of it. Returns the Trap."""
        return self._set(Trap("drop_reply", pattern, nth))

    def drop_query(self, pattern, nth=1):
        """As drop_reply, but the statement never reaches the server."""
        return self._set(Trap("drop_query", pattern, nth))

    def cut(self):
        """Closes every connection there is; returns how many."""
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            connection.close()
        return len(connections)

    def refuse(self):
        """Cuts every connection and refuses new ones until accept()."""
        if self._listener:
            listener, self._listener = self._listener, None
            listener.shutdown(socket.SHUT_RDWR)  # close() alone leaves accept() waiting
            listener.close()
        return self.cut()

    def accept(self):
        """Takes new connections (again), always on the same port."""
        if self._listener:
            return
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.host, self.port))
        listener.listen(64)
        self.port = listener.getsockname()[1]
        self._listener = listener
        threading.Thread(target=self._accept_loop, args=(listener,), daemon=True).start()

    def stall(self):
        """Keeps connections open and passes nothing on, as a network does that loses every packet."""
        self._flowing.clear()

    def flow(self):
        self._flowing.set()

    def connections(self):
        with self._lock:
            return len(self._connections)

    def close(self):
        self.refuse()
        self.flow()
        wait_until(lambda: self.connections() == 0, "the proxy's connections end")
        assert self.problem is None, self.problem

    # The rest is inside.

    def _set(self, trap):
        with self._lock:
            self._traps.append(trap)
        return trap

    def _accept_loop(self, listener):
        while True:
            try:
                client = listener.accept()[0]
            except OSError:
                return
            try:
                server = socket.create_connection(self._server, timeout=5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self, client, server)
            with self._lock:
                self._connections.add(connection)
            connection.run()

    def forget(self, connection):
        with self._lock:
            self._connections.discard(connection)

    def wait_for_flow(self):
        self._flowing.wait()

    def trap_for(self, text):
        """The trap this statement springs, if any."""
        with self._lock:
            for trap in self._traps:
                if trap.pattern.search(text):
                    trap.left -= 1
                    if trap.left == 0:
                        self._traps.remove(trap)
                        trap.text = text
                        return trap
        return None


class Connection:
    """Two sockets and a thread for each way."""

    def __init__(self, proxy, client, server):
        self._proxy, self._client, self._server = proxy, client, server
        self._sprung = None
        self._closed = threading.Lock()

    def run(self):
        for target in (self._from_client, self._from_server):
            threading.Thread(target=self._guarded, args=(target,), daemon=True).start()

    def close(self):
        for end in (self._client, self._server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _guarded(self, target):
        try:
            target()
        except OSError:
            pass
        finally:
            self.close()
            # The second thread to end gives the sockets back.
            if not self._closed.acquire(blocking=False):
                self._client.close()
                self._server.close()
                self._proxy.forget(self)

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            more = self._client.recv(min(size - len(data), CHUNK_BYTES * 16))
            if not more:
                raise ConnectionError("the client has closed")
            data += more
        return data

    def _from_client(self):
        logging_in = True
        while True:
            header = self._exactly(4)
            payload = self._exactly(int.from_bytes(header[:3], "little"))
            self._proxy.wait_for_flow()
            if logging_in:
                logging_in = False
                self._check_login(payload)
            elif header[3] == 0 and payload[:1] == bytes([COM_QUERY]):
                text = payload[1:].removeprefix(NO_PARAMETERS).decode("utf-8", "replace")
                trap = self._proxy.trap_for(text)
                if trap and trap.action == "drop_query":
                    trap.struck.set()
                    self.close()
                    return
                self._sprung = trap
            self._server.sendall(header + payload)

    def _check_login(self, payload):
        flags = struct.unpack("<I", payload[:4])[0]
        for bit, what in ((CLIENT_SSL, "TLS"), (CLIENT_COMPRESS, "compression")):
            if flags & bit and (bit != CLIENT_SSL or len(payload) == 32):
                self._proxy.problem = f"the client wants {what}, which this proxy cannot follow"
                raise ConnectionError(self._proxy.problem)

    def _from_server(self):
        while True:
            data = self._server.recv(CHUNK_BYTES)
            if not data:
                return
            if self._sprung:
                self._sprung.struck.set()
                self.close()
                return
            self._proxy.wait_for_flow()
            self._client.sendall(data)
