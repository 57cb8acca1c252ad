"""Compares verdicts about pairs of published apps with those of IoTCheck.

    python3 tools/smart-homes/published.py --data iotcheck-data --apps iotcheck/smartapps

`--data` is a checkout of github.com/uci-plrg/iotcheck-data, `--apps` the folder `smartapps` of
github.com/uci-plrg/iotcheck. All apps are given to one `anyorder check --pairs`, so that each is
evaluated once. There is no limit of time, so that the answers do not depend on the machine. One line
is printed for each pair, and then the sums.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import time

import sheets


def checked(options, names):
    """The result of each pair of the apps: the attributes in conflict, and what cut it."""
    files = [str(options.apps / name) for name in names]
    command = [options.anyorder, "check", *files, "--pairs", "--format", "json"]
    command += ["--threads", str(options.jobs), "--max-states", str(options.max_states)]
    command += options.more
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"anyorder failed with {done.returncode}")
    result = json.loads(done.stdout)
    places = collections.defaultdict(set)
    for finding in result["findings"]:
        if finding["kind"] == "update_conflict":
            pair = frozenset(pathlib.Path(site["file"]).name for site in finding["sites"])
            places[pair].add(finding["sites"][0]["location"])
    limits = {}
    for home in result.get("homes", []):
        pair = frozenset(pathlib.Path(file).name for file in home["automations"])
        limits[pair] = [] if home["complete"] else home.get("limits") or ["incomplete"]
    reasons = collections.defaultdict(set)
    for warning in result.get("warnings", []):
        if warning["text"].startswith(("not understood", "cut")):
            reasons[pathlib.Path(warning.get("input", "")).name].add(warning["text"][:100])
    return places, limits, reasons


def verdict(group, places, limits):
    watched = sheets.WATCHED[group]
    if any(place.split(".")[-1] in watched for place in places):
        return "conflict"
    return "incomplete" if limits else "none"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--apps", type=pathlib.Path, required=True)
    parser.add_argument("--anyorder", default="anyorder")
    parser.add_argument("--max-states", type=int, default=20000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--group", help="only the pairs of this group")
    parser.add_argument("--theirs", help="only the pairs of this verdict")
    parser.add_argument("more", nargs="*", help="more options of `anyorder check`, after `--`")
    options = parser.parse_args()
    wanted = [
        pair
        for pair in sheets.pairs(options.data)
        if options.group in (None, pair[0]) and options.theirs in (None, pair[3])
    ]
    start = time.monotonic()
    groups = collections.defaultdict(set)
    for group, first, second, *_ in wanted:
        groups[group].update((first, second))
    sums = collections.Counter()
    for group, names in groups.items():
        places, limits, reasons = checked(options, sorted(names))
        for of, first, second, theirs, manual in wanted:
            if of != group:
                continue
            pair = frozenset((first, second))
            cut = limits.get(pair, ["not checked"])
            ours = verdict(group, places[pair], cut)
            sums[theirs, manual, ours] += 1
            why = cut + sorted(reasons[first] | reasons[second]) if ours == "incomplete" else []
            line = [group, first, second, theirs, manual, ours, " | ".join(why)]
            print("\t".join(line), flush=True)
    print()
    for (theirs, manual, ours), count in sorted(sums.items()):
        print(f"{count:5}  published: {theirs}, manual study: {manual}, here: {ours}")
    print(f"{len(wanted)} pairs, {time.monotonic() - start:.0f} s of a clock")


if __name__ == "__main__":
    main()
