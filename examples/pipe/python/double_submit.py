"""An order form that can be sent twice.

A click posts `submit`, and only `submit` notices that an order is under way. Who clicks again before it runs
orders twice. With `--fixed` the click itself notices.

The reply of the server and the time-out race as well: whichever comes first cancels the other. `help` has nothing to do
with any of this.
"""

import sys

from anyorder_loop import run

FIXED = "--fixed" in sys.argv


def build(loop):
    loop.handler("ui", "delayed")
    loop.handler("net", "bag")
    sending = loop.var("sending", 0)
    orders = loop.var("orders", 0)
    status = loop.var("status", "")
    log = loop.var("log", "")
    panel = loop.var("panel", 0)
    waiting = {}

    def write(text):
        log.update(lambda old: old + text + ";")

    def load():
        status.set("ready")
        loop.enable("click")

    def click():
        if FIXED and sending.update(lambda old: old + 1) > 1:
            return
        loop.post("submit", submit)

    def submit():
        if not FIXED:
            sending.update(lambda old: old + 1)
        loop.disable("click")
        write("POST /orders")
        number = sending.get()
        waiting[number] = None
        reply_to = loop.post("reply", lambda: reply(number), handler="net", label="/orders", alternatives=2)
        waiting[number] = (reply_to, loop.post("timeout", lambda: timeout(number), delay=50))

    def reply(number):
        loop.cancel(waiting[number][1])
        if loop.alternative == 1:
            status.set("error")
            return
        if orders.update(lambda old: old + 1) > 1:
            loop.fail("ordered twice")
        status.set("done")

    def timeout(number):
        loop.cancel(waiting[number][0])
        status.set("timed out")
        for _ in range(2):
            loop.post("beep", lambda: write("beep"))

    loop.post("load", load, handler="ui")
    # A second click may come or not: no role that would keep the clicks as they were recorded.
    loop.input("click", click, handler="ui", times=2, enabled=False, role="task")
    loop.input("help", lambda: panel.update(lambda old: old + 1), handler="ui")
    loop.observe(
        lambda: [
            (["page", "status"], "output", status.peek()),
            (["page", "help"], "output", str(panel.peek())),
            (["server", "orders"], "persistent", str(orders.peek())),
            (["requests"], "request", log.peek()),
        ]
    )


run("double submit" + (", fixed" if FIXED else ""), build)
