#!/usr/bin/env python3
"""A second checker of anyorder's certificates, in another language, sharing no code with the first.

    certify.py [--mailbox RULE] [--infer-co] TRACE CERTIFICATE...

It reads traces as native text (`anyorder convert TRACE - --to text`) and edtrace. The exit status is 0 when
all certificates hold, 1 when one does not hold, else 2 when one is no certificate about the trace, else 3
when one needs rules that this checker does not know.
"""

import argparse
import json
import sys

import consistency
import orders
import reorderings
import schedules
from traces import Beyond, Refused, Unreadable, read_trace
from words import lines

STATUS = {Refused: 1, Unreadable: 2, Beyond: 3}
VERDICTS = ["holds", "does not hold", "is no certificate about this trace", "was not checked"]


def no_twins(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise Unreadable("a key stands twice")
    return dict(pairs)


def whole(digits):
    """A number as certificates write it: no sign before a zero, and no NaN."""
    if not digits.lstrip("-").isdigit() or digits == "-0":
        raise Unreadable(f"{digits} is no number of a certificate")
    return int(digits)


def check(trace, text, mailbox):
    """Checks one certificate, and returns the claim; raises otherwise. May change the trace."""
    if text.startswith("\ufeff"):
        text = text[1:]
    if text.lstrip(" \t\r\n\f").startswith("{"):
        try:
            value = json.loads(text, object_pairs_hook=no_twins, parse_int=whole, parse_constant=whole)
            # Half of a surrogate pair is no character.
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"not JSON: {error}") from None
        if "findings" in value or "reordering" not in value:
            raise Unreadable("expected a reordering; anyorder itself checks whole results")
        return reorderings.check(trace, value)
    _, words = next(lines(text), (0, [""]))
    if words[0] == "order-proof":
        return orders.check(trace, text)
    if words[0] == "trace-schedule":
        return schedules.check(trace, text)
    if words[0] == "consistency-proof":
        return consistency.check_refutation(trace, text, mailbox)
    return consistency.check_witness(trace, text, mailbox)


def verdict(trace_text, text, mailbox, infer):
    try:
        return 0, check(read_trace(trace_text, infer), text, mailbox)
    except (Refused, Unreadable, Beyond) as error:
        return STATUS[type(error)], str(error)


def batch():
    """Reads pairs as lines of JSON, [trace, certificate, mailbox], and writes [status, words]."""
    for line in sys.stdin:
        trace, certificate, mailbox = json.loads(line)
        print(json.dumps(verdict(trace, certificate, mailbox, True)), flush=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mailbox", choices=["fifo", "bag", "delayed"])
    parser.add_argument("--infer-co", action="store_true")
    parser.add_argument("--batch", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("trace", nargs="?")
    parser.add_argument("certificates", nargs="*")
    arguments = parser.parse_args()
    if arguments.batch:
        return batch()
    if not arguments.certificates:
        parser.error("expected a trace and certificates")
    with open(arguments.trace, encoding="utf-8", newline="") as file:
        trace = file.read()
    found = set()
    for path in arguments.certificates:
        try:
            with open(path, encoding="utf-8", newline="") as file:
                status, words = verdict(trace, file.read(), arguments.mailbox, arguments.infer_co)
        except UnicodeDecodeError:
            status, words = STATUS[Unreadable], "not UTF-8"
        found.add(status)
        print(f"{path}: {VERDICTS[status]}\n  {words}")
    return next(status for status in (1, 2, 3, 0) if status in found)


if __name__ == "__main__":
    sys.exit(main())
