#!/usr/bin/env python3
"""Server CPU per request, side by side: a server, nginx at its best, and the floor.

    cargo build --release
    bench/side_by_side.py -- target/release/quintain serve --root {root} --listen 127.0.0.1:{port} --workers 1

What follows `--` starts the server under test in the foreground, with one worker; {port} and {root} are filled in. It
runs beside nginx (nginx.conf.in) and beside the least that one thread can do (floor.c). Prints a Markdown table.

The figure is CPU time, user and system, of the server's processes, divided by the requests that the client saw
answered. It says something even when the client is the limit, which requests per second do not. Servers have one CPU to
themselves and clients another. The three are measured in turns, each round in another order, so that whatever else
the machine does hits all alike; the first round warms up and is not counted. The ratio to quote is the median of the
ratios within each round; the smallest and the largest stand beside it.

Needs two CPUs, gcc, nginx, wrk and ab. As root it switches the system's TCP congestion control to cubic meanwhile:
others, bbr for one, pace loopback, and then all servers look alike on large documents.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the project's folder stays as it was

import servers
import works
from servers import NAMES, Refused
from works import IDLE, IDLE_CONNECTIONS, WORKS

CONGESTION = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control")
DESCRIPTORS = 20_000  # what nginx.conf.in asks for too
PACKAGES = {"gcc": "gcc libc6-dev", "nginx": "nginx", "wrk": "wrk", "ab": "apache2-utils"}


def main():
    options = arguments()
    check_tools()
    server_cpu, client_cpu = two_cpus()
    chosen = choose(options.only, raise_descriptor_limit())
    root = options.root.resolve()
    documents = find_documents(root)
    os.sched_setaffinity(0, {client_cpu})  # the clients inherit it
    with contextlib.ExitStack() as stack:
        machine = describe_machine(stack.enter_context(loopback_unpaced()))
        state = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quintain-bench-")))
        works.build_drain(state)
        running = stack.enter_context(servers.side_by_side(root, documents, options.target, server_cpu, state))
        return report(machine, measure_all(running, state, chosen, options.rounds), options)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="counted rounds of each work (default 7)")
    parser.add_argument("--only", default="", metavar="WORK,...", help="only these works")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every round of every work to FILE")
    parser.add_argument("--root", type=pathlib.Path, default=servers.HERE.parent / "fixtures", help="the documents")
    parser.add_argument("target", nargs="+", metavar="TARGET COMMAND")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    return options


# What must be there


def check_tools():
    missing = [tool for tool in PACKAGES if not shutil.which(tool)]
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


def choose(only, descriptors):
    connections = {IDLE: IDLE_CONNECTIONS} | {work.name: work.connections for work in WORKS}
    chosen = only.split(",") if only else list(connections)
    for name in chosen:
        if name not in connections:
            raise Refused(f"--only: there is no work {name}; there are {', '.join(connections)}")
        needed = connections[name] + 100
        if needed > descriptors:
            raise Refused(f"{name} needs {needed} descriptors, only {descriptors} are allowed (ulimit -Hn)")
    return chosen


def find_documents(root):
    documents = [root / name for name in sorted({work.document for work in WORKS})]
    missing = [document.name for document in documents if not document.is_file()]
    if missing:
        raise Refused(f"{root} has no {', '.join(missing)}; `quintain fixtures --out {root}` makes them")
    return documents


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


def describe_machine(congestion):
    cpu = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    return {
        "cpu": cpu[1] if cpu else platform.machine(),
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "congestion control": congestion,
        "nginx": first_line("nginx", "-v").removeprefix("nginx version: "),
        "wrk": first_line("wrk", "-v").split(" [")[0],
        "ab": first_line("ab", "-V").removeprefix("This is ").split(" <")[0],
    }


def first_line(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stdout + done.stderr).strip().splitlines()[0]


# The measurement


def measure_all(running, state, chosen, rounds):
    """Yields a name and a result as soon as there is one; a refused work has the reason instead of figures."""
    if IDLE in chosen:  # first, while no server holds memory that busier times have left
        yield IDLE, or_reason(lambda: measure_idle(running))
    for work in WORKS:
        if work.name in chosen:
            yield work.name, or_reason(lambda: measure(work, running, state, rounds))


def or_reason(measurement):
    try:
        return measurement()
    except Refused as refused:
        return {"refused": str(refused)}


def measure_idle(running):
    return {"kib_per_connection": {name: works.idle_kib_per_connection(running[name]) for name in NAMES}}


def measure(work, running, state, rounds):
    counted = [one_round(work, running, state, turn) for turn in range(rounds + 1)][1:]
    return {
        "cpu_us": {n: statistics.median(r[n]["cpu_us"] for r in counted) for n in NAMES},
        "requests_per_second": {n: statistics.median(r[n]["requests_per_second"] for r in counted) for n in NAMES},
        "target_to_nginx": spread([r["target"]["cpu_us"] / r["nginx"]["cpu_us"] for r in counted]),
        "target_to_floor": spread([r["target"]["cpu_us"] / r["floor"]["cpu_us"] for r in counted]),
        "rounds": counted,
    }


def one_round(work, running, state, turn):
    first = turn % len(NAMES)
    return {name: one_burst(work, running[name], state) for name in NAMES[first:] + NAMES[:first]}


def one_burst(work, server, state):
    before = server.cpu_seconds()
    try:
        burst = work.client(work, server.port, state)
    except Refused as refused:
        raise Refused(f"{server.name}: {refused}") from None
    cpu_us = (server.cpu_seconds() - before) * 1e6 / burst.requests
    return {"cpu_us": cpu_us, "requests": burst.requests, "requests_per_second": burst.per_second}


def spread(ratios):
    return {"median": statistics.median(ratios), "smallest": min(ratios), "largest": max(ratios)}


# What is said about it

COLUMNS = {"work": 19, "floor us": 8, "nginx us": 8, "target us": 9, "target/nginx": 19, "target/floor": 19}
RATES = "requests/s: floor, nginx, target"


def row(*cells):
    """A line of a Markdown table, lined up for a reader without a renderer."""
    widths = [*COLUMNS.values(), len(RATES)]
    return "| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths)) + " |"


def report(machine, results, options):
    for key, value in machine.items():
        print(f"- {key}: {value}")
    print(f"- rounds: {options.rounds}\n")
    print(row(*COLUMNS, RATES))
    print(row(*("-" * width for width in [*COLUMNS.values(), len(RATES)])), flush=True)
    done = {}
    for name, result in results:
        done[name] = result
        if "refused" in result:
            print(f"{name}: {result['refused']}", file=sys.stderr)
        else:
            print(memory_row(result) if name == IDLE else table_row(name, result), flush=True)
        if options.json:  # written each time: a result is safe before the next one is begun
            options.json.write_text(json.dumps({"machine": machine, "works": done}, indent=1) + "\n")
    return 1 if any("refused" in result for result in done.values()) else 0


def table_row(name, result):
    cpu, rate = result["cpu_us"], result["requests_per_second"]
    ratios = (
        "{median:.3f} ({smallest:.2f}-{largest:.2f})".format(**result[ratio])
        for ratio in ("target_to_nginx", "target_to_floor")
    )
    return row(name, *(f"{cpu[n]:.2f}" for n in NAMES), *ratios, ", ".join(f"{rate[n]:.0f}" for n in NAMES))


def memory_row(result):
    return row(IDLE, *(f"{result['kib_per_connection'][n]:.2f} KiB" for n in NAMES), "per idle connection", "", "")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("side_by_side: stopped"))  # so that the servers are stopped too
    try:
        sys.exit(main())
    except Refused as refused:
        sys.exit(f"side_by_side: {refused}")
