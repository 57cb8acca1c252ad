"""Compares counts of states and transitions with those of a paper's table.

    python3 tools/smart-homes/states.py --table table.txt --apps iotcheck/smartapps

`--table` is the text of Table A.2 of "Stateful Dynamic Partial Order Reduction for Model Checking
Event-Driven Applications that Do Not Terminate": a row has a number, two apps with a hyphen between
them, the number of events, and states, transitions and seconds without and with the reduction.
The counts without it are compared with those of `anyorder check --as-published`. One line is
printed for each pair, and then how many counts are equal.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess

ROW = re.compile(r"^\d+\t(\S+)\t(\d+)\t([\d,]+)\t([\d,]+)\t")


def rows(path, apps):
    """The pairs of the table, with the files of the two apps, states and transitions."""
    names = {file.name.removesuffix(".groovy"): file for file in apps.glob("*.groovy")}
    names |= {name.removesuffix(".smartapp"): file for name, file in names.items()}
    for line in path.read_text().splitlines():
        row = ROW.match(line)
        if not row:
            continue
        pair, _, states, transitions = row.groups()
        pair = pair.replace("\N{EN DASH}", "-")
        cuts = [at for at, letter in enumerate(pair) if letter == "-"]
        both = [(pair[:at], pair[at + 1 :]) for at in cuts]
        known = [one for one in both if one[0] in names and one[1] in names]
        counts = [int(text.replace(",", "")) for text in (states, transitions)]
        yield pair, [names[name] for name in known[0]] if known else None, counts


def counted(options, files):
    """Our states and transitions, and whether the search was complete."""
    command = [options.anyorder, "check", *map(str, files), "--as-published", "--no-reduction"]
    command += ["--format", "json", "--threads", "1", "--max-states", str(options.max_states)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if done.returncode not in (0, 1, 3):
        return None
    result = json.loads(done.stdout)
    stats = result["stats"]
    return stats.get("states", 0), stats.get("transitions", 0), "max-states" in result["limits"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=pathlib.Path, required=True)
    parser.add_argument("--apps", type=pathlib.Path, required=True)
    parser.add_argument("--anyorder", default="anyorder")
    parser.add_argument("--max-states", type=int, default=50000)
    parser.add_argument("--every", type=int, default=1, help="only each so many-th row")
    options = parser.parse_args()
    equal = equal_states = equal_transitions = cut = missing = 0
    ratios = []
    found = list(rows(options.table, options.apps))[:: options.every]
    for pair, files, (states, transitions) in found:
        ours = counted(options, files) if files else None
        if ours is None:
            missing += 1
            print(f"{pair}\t{states}\t{transitions}\tnot compared", flush=True)
            continue
        same = "equal" if ours[:2] == (states, transitions) else "different"
        print(f"{pair}\t{states}\t{transitions}\t{ours[0]}\t{ours[1]}\t{same}", flush=True)
        equal += same == "equal"
        cut += ours[2]
        equal_states += ours[0] == states
        equal_transitions += ours[1] == transitions
        if not ours[2] and ours[0]:
            ratios.append(math.log(ours[0] / states))
    print(f"\n{len(found)} rows, {missing} not compared, {cut} cut by --max-states")
    print(f"equal: states {equal_states}, transitions {equal_transitions}, both {equal}")
    if ratios:
        print(f"geometric mean of our states by theirs: {math.exp(sum(ratios) / len(ratios)):.3f}")


if __name__ == "__main__":
    main()
