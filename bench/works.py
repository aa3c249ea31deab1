"""What is asked of the servers: the clients, and the works as a table.

A client returns how many requests were answered, and how many a second, or it refuses: a burst with one failed request
gives no figure.
"""

import contextlib
import dataclasses
import http.client
import pathlib
import re
import statistics
import subprocess
import time

from servers import HERE, Refused

CLIENT_SECONDS = 300  # far beyond any burst: a client that takes longer hangs
IDLE = "idle-memory"
IDLE_CONNECTIONS = 5000
PARK_SECONDS = 3  # servers may give memory back only after a connection has been idle for a while


@dataclasses.dataclass
class Burst:
    requests: int
    per_second: float


@dataclasses.dataclass
class Work:
    """`amount`: seconds for wrk and drain, requests for ab."""

    name: str
    client: object
    document: str
    connections: int
    amount: int

    def url(self, port):
        return f"http://127.0.0.1:{port}/{self.document}"


def wrk(work, port, state):
    report = run("wrk", "-t1", f"-c{work.connections}", f"-d{work.amount}s", work.url(port))
    if "Non-2xx" in report or "Socket errors" in report:
        raise Refused(f"wrk saw failed requests:\n{report}")
    return Burst(int(number(r"(\d+) requests in", report)), number(r"Requests/sec:\s+([\d.]+)", report))


def ab(work, port, state, *flags):
    report = run("ab", "-q", *flags, "-n", work.amount, "-c", work.connections, work.url(port))
    complete = number(r"Complete requests:\s+(\d+)", report)
    if complete != work.amount or number(r"Failed requests:\s+(\d+)", report) or "Non-2xx" in report:
        raise Refused(f"ab saw failed requests:\n{report}")
    if "-k" in flags and number(r"Keep-Alive requests:\s+(\d+)", report) != work.amount:
        raise Refused(f"not every request of ab -k left its connection open:\n{report}")
    return Burst(work.amount, number(r"Requests per second:\s+([\d.]+)", report))


def ab_keep_alive(work, port, state):
    return ab(work, port, state, "-k")


def drain(work, port, state):
    report = run(state / "drain", port, f"/{work.document}", work.connections, work.amount)
    requests = int(number(r"requests=(\d+)", report))
    return Burst(requests, requests / number(r"seconds=([\d.]+)", report))


WORKS = [
    Work("keepalive-1k-c50", wrk, "1k.html", 50, 2),
    Work("keepalive-10k-c50", wrk, "10k.html", 50, 2),
    Work("keepalive-30k-c50", wrk, "30k.html", 50, 2),
    Work("keepalive-100k-c50", wrk, "100k.html", 50, 2),
    Work("keepalive-300k-c50", wrk, "300k.html", 50, 2),
    Work("keepalive-7.5m-c8", drain, "7.5m.html", 8, 2),
    Work("keepalive-1k-c1000", ab_keep_alive, "1k.html", 1000, 150_000),
    Work("keepalive-1k-c10000", ab_keep_alive, "1k.html", 10_000, 150_000),
    Work("short-1k-c50", ab, "1k.html", 50, 40_000),
    Work("short-1k-c1000", ab, "1k.html", 1000, 40_000),
]


def build_drain(state):
    subprocess.run(["gcc", "-O2", "-std=gnu11", "-o", state / "drain", HERE / "drain.c"], check=True)


def run(*command):
    client = pathlib.Path(command[0]).name
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=CLIENT_SECONDS)
    except subprocess.TimeoutExpired:
        raise Refused(f"{client} was not done after {CLIENT_SECONDS} s") from None
    if done.returncode:
        raise Refused(f"{client} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise Refused(f"no '{pattern}' in the client's report:\n{text[-600:]}")
    return float(found[1])


def spread(ratios):
    return {"median": statistics.median(ratios), "smallest": min(ratios), "largest": max(ratios)}


def with_spread(ratio):
    return "{median:.3f} ({smallest:.2f}-{largest:.2f})".format(**ratio)


def idle_kib_per_connection(server):
    """Server memory for each connection that was answered once and then waits for its next request."""
    before = server.resident_kib()
    with contextlib.ExitStack() as stack:
        for _ in range(IDLE_CONNECTIONS):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
            stack.callback(connection.close)
            ask_once(connection, server)
        time.sleep(PARK_SECONDS)
        return (server.resident_kib() - before) / IDLE_CONNECTIONS


def ask_once(connection, server):
    try:
        connection.request("GET", "/1k.html")
        connection.getresponse().read()
    except (OSError, http.client.HTTPException) as error:
        raise Refused(f"{server.name} failed while idle connections were opened: {error!r}") from None
    if connection.sock is None:
        raise Refused(f"{server.name} closes its connections: there is no idle one to measure")
