// The first repair, a condition: a light that another app has lit stays on, and the user is asked.
definition(name: "Dark night that asks", namespace: "anyorder", author: "anyorder", description: "Asks before it puts a light out", category: "Convenience")

preferences {
    section("Put this out") { input "lamp", "capability.switch" }
}

def installed() { subscribe(location, "mode", changed) }

def changed(evt) {
    if (evt.value == "Night" && lamp.currentSwitch == "on") {
        sendPush("The light is still on.")
    }
}
