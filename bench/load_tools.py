"""The load tools that are compared: how each is called, and what its report says of a burst.

Each runs on one thread, over as many connections as the work says, for as many seconds. What a tool has on its way when
the time is up is in no one's count.
"""

import dataclasses
import json
import os
import re
import signal
import subprocess
import threading

from servers import Refused
from works import CLIENT_SECONDS, number

AB_REQUESTS = 1_000_000  # -t alone ends ab after 50,000


@dataclasses.dataclass
class Burst:
    """What a tool says of itself, and the CPU time that the kernel says it took, its start and its report included."""

    answered: int
    failed: int
    per_second: float
    received: float
    cpu_seconds: float = 0.0


@dataclasses.dataclass
class Tool:
    name: str
    arguments: object
    read: object
    is_ours: bool = False

    def run(self, ours, work, url, state):
        command = [str(word) for word in ([ours] if self.is_ours else []) + self.arguments(work, url)]
        report, cpu_seconds = run(self.name, command, state)
        try:
            burst = self.read(report)
        except Refused as refused:
            raise Refused(f"{self.name}: {refused}") from None
        if burst.answered == 0:
            raise Refused(f"{self.name}: not one request was answered:\n{report[-600:]}")
        burst.cpu_seconds = cpu_seconds
        return burst


def run(name, command, state):
    """The tool's report and its CPU time, user and system: wait4(2) has the times of this one child."""
    said, complained = state / "client.out", state / "client.err"
    with said.open("wb") as out, complained.open("wb") as err:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        except OSError as error:
            raise Refused(f"{name} cannot be started: {error}") from None
        limit = threading.Timer(CLIENT_SECONDS, process.kill)
        limit.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # stopped from outside: the tool goes first
            process.kill()
            process.wait()
            raise
        finally:
            limit.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    report = said.read_text(errors="replace")
    if process.returncode == -signal.SIGKILL:
        raise Refused(f"{name} was not done after {CLIENT_SECONDS} s")
    if process.returncode:
        words = (complained.read_text(errors="replace") or report).strip()[-300:]
        raise Refused(f"{name} ended with {process.returncode}: {words}")
    return report, usage.ru_utime + usage.ru_stime


# What the tools are asked


def wrk(work, url):
    return ["wrk", "-t1", f"-c{work.connections}", f"-d{work.seconds}s", url]


def h2load(work, url):
    return ["h2load", "--h1", "-t1", f"-c{work.connections}", "-D", work.seconds, url]


def ab(work, url):
    return ["ab", "-q", "-t", work.seconds, "-n", AB_REQUESTS, "-c", work.connections, url]


def load(work, url):
    reuse = "keep-alive" if work.keep_alive else "short"
    options = ["-q", "--output", "json", "--threads", 1, "--connections", reuse]
    return ["load", *options, "-c", work.connections, "-t", f"{work.seconds}s", url]


# What they answer


def read_wrk(report):
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", report)
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", report)
    failed = sum(map(int, errors.groups())) if errors else 0
    requests, refused = int(number(r"(\d+) requests in", report)), int(refused[1]) if refused else 0
    return Burst(
        answered=requests - refused,
        failed=failed + refused,
        per_second=number(r"Requests/sec:\s+([\d.]+)", report),
        received=wrk_bytes(report),
    )


def wrk_bytes(report):
    """`1.23GB read`: with two decimals, and in units of 1024."""
    unit = re.search(r"[\d.]+([KMGT]?)B read", report)
    return number(r"([\d.]+)[KMGT]?B read", report) * 1024 ** " KMGT".index(unit[1] or " ")


def read_h2load(report):
    counts = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", report)
    if not counts:
        raise Refused(f"no counts in the report:\n{report[-600:]}")
    succeeded, *failures = map(int, counts.groups())
    return Burst(
        answered=succeeded,
        failed=sum(failures),
        per_second=number(r"finished in [^,]+, ([\d.]+) req/s", report),
        received=number(r"traffic: \S+ \((\d+)\) total", report),
    )


def read_ab(report):
    refused = re.search(r"Non-2xx responses:\s+(\d+)", report)
    failed = int(number(r"Failed requests:\s+(\d+)", report)) + (int(refused[1]) if refused else 0)
    return Burst(
        answered=int(number(r"Complete requests:\s+(\d+)", report)) - failed,
        failed=failed,
        per_second=number(r"Requests per second:\s+([\d.]+)", report),
        received=number(r"Total transferred:\s+(\d+)", report),
    )


def read_load(report):
    try:
        run = json.loads(report)["runs"][0]
    except ValueError as error:
        raise Refused(f"no record but {report[:200]!r}: {error}") from None
    endings = run["endings"]
    return Burst(
        answered=endings["ok"],
        failed=sum(endings.values()) - endings["ok"] - endings["aborted"],
        per_second=run["answered_per_s"],
        received=run["transfer"]["received_bytes"],
    )


WRK = Tool("wrk", wrk, read_wrk)
H2LOAD = Tool("h2load", h2load, read_h2load)
AB = Tool("ab", ab, read_ab)
OUR_LOAD = Tool("quintain load", load, read_load, is_ours=True)
OUR_AB = Tool("quintain ab", ab, read_ab, is_ours=True)
