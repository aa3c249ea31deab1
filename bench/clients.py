#!/usr/bin/env python3
"""Client CPU per request, side by side: `quintain load` and `quintain ab` beside wrk, h2load and ab.

    cargo build --release
    bench/clients.py -- target/release/quintain

What follows `--` is the program. It is also the server, with one worker, unless --server names another command, which
must stay in the foreground; {port} and {root} are filled in. Prints a Markdown table.

The figure is CPU time, user and system, of the load tool's process, divided by the requests that it saw answered; of
large documents, by the MiB that it received. It says something even when the server is the limit, which requests per
second do not. The server has one CPU to itself and the tools, on one thread each, have another. They are measured in turns, each
round in another order, so that whatever else the machine does hits all alike; the first round warms up and is not
counted. The ratio to quote is the median of the ratios within each round; the smallest and the largest stand beside it.
Failed requests are counted over all rounds: a ratio beside failures is worth nothing.

Needs two CPUs, wrk, h2load and ab. As root it switches the system's TCP congestion control to cubic meanwhile: others,
bbr for one, pace loopback, and all tools then wait alike for large documents.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import shlex
import signal
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True  # the project's folder stays as it was

import machine
import servers
import works
from load_tools import AB, H2LOAD, OUR_AB, OUR_LOAD, WRK
from servers import Refused

TOOLS = ("wrk", "h2load", "ab")
SERVER = "serve --root {root} --listen 127.0.0.1:{port} --workers 1"
MIB = 1024 * 1024


@dataclasses.dataclass
class Work:
    """`tools`: those of others first, then ours, each of which is compared with each of those."""

    name: str
    document: str
    connections: int
    tools: tuple
    keep_alive: bool = True
    unit: str = "request"
    seconds: int = 2

    def cpu_us(self, burst):
        return burst.cpu_seconds * 1e6 / (burst.received / MIB if self.unit == "MiB" else burst.answered)


WORKS = [
    Work("keepalive-1k-c50", "1k.html", 50, (WRK, H2LOAD, OUR_LOAD)),
    Work("short-1k-c50", "1k.html", 50, (AB, OUR_AB, OUR_LOAD), keep_alive=False),
    Work("keepalive-7.5m-c8", "7.5m.html", 8, (WRK, OUR_LOAD), unit="MiB"),
    Work("keepalive-1k-c10000", "1k.html", 10_000, (OUR_LOAD,)),
]


def main():
    options = arguments()
    machine.check_tools(TOOLS)
    server_cpu, client_cpu = machine.two_cpus()
    chosen = choose(options, machine.raise_descriptor_limit())
    root = options.root.resolve()
    documents = servers.find_documents(root, (work.document for work in chosen))
    os.sched_setaffinity(0, {client_cpu})  # the clients inherit it
    with contextlib.ExitStack() as stack:
        facts = machine.describe(stack.enter_context(machine.loopback_unpaced()), TOOLS)
        state = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quintain-bench-")))
        port = stack.enter_context(serving(options, root, documents, server_cpu, state))
        results = ((work, measure_or_reason(work, options, port, state)) for work in chosen)
        return report(facts, results, options)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="counted rounds of each work (default 7)")
    parser.add_argument("--only", default="", metavar="WORK,...", help="only these works")
    parser.add_argument("--seconds", type=int, default=2, help="length of each burst (default 2)")
    parser.add_argument("--server", metavar="COMMAND", help="the server's command (default: LOADBIN " + SERVER + ")")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every round of every work to FILE")
    parser.add_argument("--root", type=pathlib.Path, default=servers.HERE.parent / "fixtures", help="the documents")
    parser.add_argument("program", metavar="LOADBIN")
    options = parser.parse_args()
    if options.rounds < 1 or options.seconds < 1:
        parser.error("--rounds and --seconds: at least 1")
    return options


def choose(options, descriptors):
    known = {work.name: dataclasses.replace(work, seconds=options.seconds) for work in WORKS}
    chosen = options.only.split(",") if options.only else list(known)
    for name in chosen:
        if name not in known:
            raise Refused(f"--only: there is no work {name}; there are {', '.join(known)}")
        needed = known[name].connections + 100
        if needed > descriptors:
            raise Refused(f"{name} needs {needed} descriptors, only {descriptors} are allowed (ulimit -Hn)")
    return [known[name] for name in chosen]


@contextlib.contextmanager
def serving(options, root, documents, cpu, state):
    """Yields the port of a server that was checked; it is stopped at the end."""
    command = shlex.split(options.server) if options.server else [options.program, *SERVER.split()]
    port = servers.free_port()
    server = servers.Server("the server", servers.fill_in(command, port, root), port, cpu, state)
    try:
        server.wait_until_it_listens()
        for document in documents:
            server.check(document)
        yield port
    finally:
        server.stop()


# The measurement


def measure_or_reason(work, options, port, state):
    try:
        return measure(work, options, port, state)
    except Refused as refused:
        return {"refused": str(refused)}


def measure(work, options, port, state):
    counted = [one_round(work, options.program, port, state, turn) for turn in range(options.rounds + 1)][1:]
    names = [tool.name for tool in work.tools]
    return {
        "cpu_us": {n: statistics.median(r[n]["cpu_us"] for r in counted) for n in names},
        "requests_per_second": {n: statistics.median(r[n]["requests_per_second"] for r in counted) for n in names},
        "failed": {n: sum(r[n]["failed"] for r in counted) for n in names},
        "ratios": {ours.name: ratios(ours, work, counted) for ours in work.tools if ours.is_ours},
        "rounds": counted,
    }


def ratios(ours, work, counted):
    others = [tool.name for tool in work.tools if not tool.is_ours]
    return {n: works.spread([r[ours.name]["cpu_us"] / r[n]["cpu_us"] for r in counted]) for n in others}


def one_round(work, program, port, state, turn):
    first = turn % len(work.tools)
    in_turn = work.tools[first:] + work.tools[:first]
    return {tool.name: one_burst(tool, work, program, port, state) for tool in in_turn}


def one_burst(tool, work, program, port, state):
    burst = tool.run(program, work, f"http://127.0.0.1:{port}/{work.document}", state)
    return {
        "cpu_us": work.cpu_us(burst),
        "requests_per_second": burst.per_second,
        **dataclasses.asdict(burst),
    }


# What is said about it

COLUMNS = {"work": 19, "tool": 13, "client CPU": 19, "requests/s": 10, "failed": 6, "ratio to": 52}


def row(*cells):
    """A line of a Markdown table, lined up for a reader without a renderer."""
    return "| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(cells, COLUMNS.values())) + " |"


def report(facts, results, options):
    for key, value in facts.items():
        print(f"- {key}: {value}")
    print(f"- rounds: {options.rounds}, of {options.seconds} s for each tool\n")
    print(row(*COLUMNS))
    print(row(*("-" * width for width in COLUMNS.values())), flush=True)
    done = {}
    for work, result in results:
        done[work.name] = result
        if "refused" in result:
            print(f"{work.name}: {result['refused']}", file=sys.stderr)
        else:
            print("\n".join(table_rows(work, result)), flush=True)
        if options.json:  # written each time: a result is safe before the next one is begun
            options.json.write_text(json.dumps({"machine": facts, "works": done}, indent=1) + "\n")
    return 1 if any("refused" in result for result in done.values()) else 0


def table_rows(work, result):
    for tool in work.tools:
        compared = result["ratios"].get(tool.name, {}).items()
        yield row(
            work.name,
            tool.name,
            f"{result['cpu_us'][tool.name]:.2f} us/{work.unit}",
            f"{result['requests_per_second'][tool.name]:.0f}",
            result["failed"][tool.name],
            ", ".join(f"{other} {works.with_spread(ratio)}" for other, ratio in compared),
        )


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("clients: stopped"))  # so that the server is stopped too
    try:
        sys.exit(main())
    except Refused as refused:
        sys.exit(f"clients: {refused}")
