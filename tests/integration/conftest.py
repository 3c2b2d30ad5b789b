"""ledger: the program (support.worker.Postonce) with its tables made in the test's own database."""
import pytest


@pytest.fixture
def ledger(postonce):
    postonce.migrate()
    return postonce
