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
import signal
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True  # the project's folder stays as it was

import machine
import servers
import works
from servers import NAMES, Refused
from works import IDLE, IDLE_CONNECTIONS, WORKS

TOOLS = ("gcc", "nginx", "wrk", "ab")


def main():
    options = arguments()
    machine.check_tools(TOOLS)
    server_cpu, client_cpu = machine.two_cpus()
    chosen = choose(options.only, machine.raise_descriptor_limit())
    root = options.root.resolve()
    documents = servers.find_documents(root, (work.document for work in WORKS))
    os.sched_setaffinity(0, {client_cpu})  # the clients inherit it
    with contextlib.ExitStack() as stack:
        facts = machine.describe(stack.enter_context(machine.loopback_unpaced()), TOOLS)
        state = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quintain-bench-")))
        works.build_drain(state)
        running = stack.enter_context(servers.side_by_side(root, documents, options.target, server_cpu, state))
        return report(facts, measure_all(running, state, chosen, options.rounds), options)


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
        "target_to_nginx": works.spread([r["target"]["cpu_us"] / r["nginx"]["cpu_us"] for r in counted]),
        "target_to_floor": works.spread([r["target"]["cpu_us"] / r["floor"]["cpu_us"] for r in counted]),
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


# What is said about it

COLUMNS = {"work": 19, "floor us": 8, "nginx us": 8, "target us": 9, "target/nginx": 19, "target/floor": 19}
RATES = "requests/s: floor, nginx, target"


def row(*cells):
    """A line of a Markdown table, lined up for a reader without a renderer."""
    widths = [*COLUMNS.values(), len(RATES)]
    return "| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths)) + " |"


def report(facts, results, options):
    for key, value in facts.items():
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
            options.json.write_text(json.dumps({"machine": facts, "works": done}, indent=1) + "\n")
    return 1 if any("refused" in result for result in done.values()) else 0


def table_row(name, result):
    cpu, rate = result["cpu_us"], result["requests_per_second"]
    ratios = (works.with_spread(result[ratio]) for ratio in ("target_to_nginx", "target_to_floor"))
    return row(name, *(f"{cpu[n]:.2f}" for n in NAMES), *ratios, ", ".join(f"{rate[n]:.0f}" for n in NAMES))


def memory_row(result):
    return row(IDLE, *(f"{result['kib_per_connection'][n]:.2f} KiB" for n in NAMES), "per idle connection", "", "")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("side_by_side: stopped"))  # so that the servers are stopped too
    try:
        sys.exit(main())
    except Refused as refused:
        sys.exit(f"side_by_side: {refused}")
