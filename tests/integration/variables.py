"""Variables of a whole database server."""
import contextlib


@contextlib.contextmanager
def server_wide(db, name, value):
    """Set for the length of a test; sessions that are there keep theirs."""
    before = db.value(f"SELECT @@GLOBAL.{name}")
    db.execute(f"SET GLOBAL {name} = {value}")
    try:
        yield
    finally:
        db.execute(f"SET GLOBAL {name} = {before}")
