"""The three servers that are compared: how each is started, checked, read and stopped."""

import contextlib
import http.client
import os
import pathlib
import re
import socket
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ("floor", "nginx", "target")
START_SECONDS = 15
STOP_SECONDS = 15


class Refused(Exception):
    """Why there is no figure, in one sentence for the user: raised where a number would not be worth its name."""


class Server:
    """A server process on the servers' CPU, its address, and what it has used so far."""

    def __init__(self, name, command, port, cpu, state):
        self.name, self.port, self.log = name, port, state / f"{name}.log"
        with self.log.open("wb") as log:
            try:
                self.process = subprocess.Popen(
                    command, stdout=log, stderr=log, preexec_fn=lambda: os.sched_setaffinity(0, {cpu})
                )
            except OSError as error:
                raise Refused(f"{name} cannot be started: {error}") from None

    def wait_until_it_listens(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise Refused(f"{self.name} ended at start with {self.process.returncode}:\n{self.last_words()}")
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            time.sleep(0.05)
        raise Refused(f"{self.name} did not listen on port {self.port} within {START_SECONDS} s:\n{self.last_words()}")

    def check(self, document):
        """A server that sends something else would be measured doing something else."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", f"/{document.name}")
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise Refused(f"{self.name} does not serve {document.name}: {error!r}\n{self.last_words()}") from None
        finally:
            connection.close()
        if answer.status != 200 or body != document.read_bytes():
            raise Refused(f"{self.name} does not serve {document.name}: status {answer.status}, {len(body)} bytes")

    def processes(self):
        """The server's process and all below it: nginx works in a child."""
        found = [self.process.pid]
        for pid in found:
            for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
                with contextlib.suppress(FileNotFoundError):  # the thread has ended meanwhile
                    found.extend(int(child) for child in children.read_text().split())
        return found

    def cpu_seconds(self):
        """User and system time. Exact to the nanosecond, and threads that have ended are still counted."""
        return sum(time.clock_gettime(process_clock(pid)) for pid in self.processes())

    def resident_kib(self):
        statuses = [pathlib.Path(f"/proc/{pid}/status").read_text() for pid in self.processes()]
        return sum(int(re.search(r"VmRSS:\s+(\d+)", status)[1]) for status in statuses)

    def last_words(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-5:])

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def process_clock(pid):
    """The number of the clock that counts a process's CPU time, as clock_getcpuclockid(3) computes it on Linux: the
    inverted id, then three bits, of which 2 is the scheduler's own precise sum over all threads."""
    return (~pid << 3) | 2


def find_documents(root, names):
    documents = [root / name for name in sorted(set(names))]
    missing = [document.name for document in documents if not document.is_file()]
    if missing:
        raise Refused(f"{root} has no {', '.join(missing)}; `quintain fixtures --out {root}` makes them")
    return documents


@contextlib.contextmanager
def side_by_side(root, documents, target, cpu, state):
    """All three at once, listening and checked, by name; stopped at the end."""
    build_floor(state)
    ports = {name: free_port() for name in NAMES}
    with contextlib.ExitStack() as stack:
        servers = {}
        for name, command in commands(state, root, target, ports).items():
            servers[name] = Server(name, command, ports[name], cpu, state)
            stack.callback(servers[name].stop)
        for server in servers.values():
            server.wait_until_it_listens()
            for document in documents:
                server.check(document)
        yield servers


def build_floor(state):
    subprocess.run(["gcc", "-O2", "-std=gnu11", "-o", state / "floor", HERE / "floor.c"], check=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def commands(state, root, target, ports):
    (state / "nginx.conf").write_text(nginx_conf(state, root, ports["nginx"]))
    # As root, nginx would read the documents as "nobody", who may not be let into the project's folder.
    main = "daemon off; user root;" if os.geteuid() == 0 else "daemon off;"
    return {
        "floor": [str(state / "floor"), str(ports["floor"]), str(root)],
        "nginx": ["nginx", "-e", str(state / "nginx-error.log"), "-c", str(state / "nginx.conf"), "-g", main],
        "target": fill_in(target, ports["target"], root),
    }


def fill_in(command, port, root):
    return [word.replace("{port}", str(port)).replace("{root}", str(root)) for word in command]


def nginx_conf(state, root, port):
    conf = (HERE / "nginx.conf.in").read_text()
    return conf.replace("@STATE@", str(state)).replace("@ROOT@", str(root)).replace("@PORT@", str(port))
