"""Compares verdicts about pairs of published apps with those of IoTCheck.

    python3 tools/smart-homes/published.py --data iotcheck-data --apps iotcheck/smartapps

`--data` is a checkout of github.com/uci-plrg/iotcheck-data, `--apps` the folder `smartapps` of
github.com/uci-plrg/iotcheck. One line is printed for each pair, and then the sums.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import time

import sheets


def checked(options, first, second):
    """The attributes in conflict, whether the search was complete, why not, and the seconds."""
    files = [str(options.apps / name) for name in (first, second)]
    command = [options.anyorder, "check", *files, "--format", "json", "--threads", "1"]
    command += ["--time-limit", options.time_limit, *options.more]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - start
    if done.returncode not in (0, 1, 3):
        return set(), False, [done.stderr.strip().splitlines()[-1:]], seconds
    result = json.loads(done.stdout)
    places = set()
    for finding in result["findings"]:
        if finding["kind"] == "update_conflict":
            places.add(finding["sites"][0]["location"])
    why = list(result.get("limits", []))
    lost = [one for one in result.get("warnings", []) if "approximated" not in json.dumps(one)]
    return places, result["complete"], why + [json.dumps(one)[:200] for one in lost[:3]], seconds


def verdict(group, places, is_complete):
    watched = sheets.WATCHED[group]
    if any(place.split(".")[-1] in watched for place in places):
        return "conflict"
    return "none" if is_complete else "incomplete"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--apps", type=pathlib.Path, required=True)
    parser.add_argument("--anyorder", default="anyorder")
    parser.add_argument("--time-limit", default="20s")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="only each so many-th pair")
    parser.add_argument("--group", help="only the pairs of this group")
    parser.add_argument("--theirs", help="only the pairs of this verdict")
    parser.add_argument("more", nargs="*", help="more options of `anyorder check`, after `--`")
    options = parser.parse_args()
    wanted = [
        pair
        for pair in sheets.pairs(options.data)
        if options.group in (None, pair[0]) and options.theirs in (None, pair[3])
    ][:: options.every]
    start = time.monotonic()
    sums = collections.Counter()
    total = 0.0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda pair: checked(options, pair[1], pair[2]), wanted)
        for (group, first, second, theirs, manual), result in zip(wanted, results):
            places, is_complete, why, seconds = result
            ours = verdict(group, places, is_complete)
            total += seconds
            sums[theirs, manual, ours] += 1
            line = [group, first, second, theirs, manual, ours, f"{seconds:.2f}", str(why)]
            print("\t".join(line), flush=True)
    print()
    for (theirs, manual, ours), count in sorted(sums.items()):
        print(f"{count:5}  published: {theirs}, manual study: {manual}, here: {ours}")
    print(f"{len(wanted)} pairs, {total:.0f} s in all, {time.monotonic() - start:.0f} s of a clock")


if __name__ == "__main__":
    main()
