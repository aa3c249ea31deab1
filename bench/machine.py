"""The machine that is measured on: what must be there, what is set meanwhile, and what a report says of it."""

import contextlib
import os
import pathlib
import platform
import re
import resource
import shutil
import subprocess
import sys

from servers import Refused

CONGESTION = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control")
DESCRIPTORS = 20_000  # what nginx.conf.in asks for too
PACKAGES = {"gcc": "gcc libc6-dev", "nginx": "nginx", "wrk": "wrk", "ab": "apache2-utils", "h2load": "nghttp2-client"}
VERSIONS = {
    "nginx": lambda: first_line("nginx", "-v").removeprefix("nginx version: "),
    "wrk": lambda: first_line("wrk", "-v").split(" [")[0],
    "ab": lambda: first_line("ab", "-V").removeprefix("This is ").split(" <")[0],
    "h2load": lambda: first_line("h2load", "--version").removeprefix("h2load "),
}


def check_tools(tools):
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        packages = " ".join(PACKAGES[tool] for tool in missing)
        raise Refused(f"not installed: {', '.join(missing)}; on Debian: apt-get install {packages}")


def two_cpus():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Refused("two CPUs are needed: one for the servers, one for the clients")
    return cpus[:2]


def raise_descriptor_limit():
    """Clients and servers inherit it. Returns how many each may open."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    allowed = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed


@contextlib.contextmanager
def loopback_unpaced():
    """Yields the congestion control that the measurement runs under."""
    before = CONGESTION.read_text().strip()
    if before == "cubic":
        yield before
    elif not os.access(CONGESTION, os.W_OK):
        print(f"congestion control stays {before}: only root may change it", file=sys.stderr)
        yield before
    else:
        CONGESTION.write_text("cubic")
        try:
            yield "cubic"
        finally:
            CONGESTION.write_text(before)


def describe(congestion, tools):
    cpu = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    return {
        "cpu": cpu[1] if cpu else platform.machine(),
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "congestion control": congestion,
    } | {tool: VERSIONS[tool]() for tool in tools if tool in VERSIONS}


def first_line(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stdout + done.stderr).strip().splitlines()[0]
