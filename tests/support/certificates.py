"""Certificates for the tests' own servers, made with openssl: an authority, and a server's by it."""
import pathlib
import subprocess

DAYS = "2"


class Authority:
    """ca: the file that a client trusts."""

    def __init__(self, directory, name):
        self._home = pathlib.Path(directory)
        self.ca, self._key = self._home / f"{name}.pem", self._home / f"{name}.key"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", DAYS, "-subj", f"/CN={name}",
                "-keyout", self._key, "-out", self.ca)

    def certify(self, name, subject):
        """(certificate, key) of a server that is reached as `subject`: DNS:localhost, IP:127.0.0.1."""
        certificate, key, request, more = (self._home / f"{name}.{end}" for end in ("pem", "key", "csr", "ext"))
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        more.write_text(f"subjectAltName={subject}\n")
        openssl("x509", "-req", "-days", DAYS, "-in", request, "-CA", self.ca, "-CAkey", self._key,
                "-CAcreateserial", "-extfile", more, "-out", certificate)
        return certificate, key


def openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"openssl {arguments[0]}: {done.stderr}"
