// The second repair, a mode: at night the light stays on too, so both apps want the same.
definition(name: "Night light", namespace: "anyorder", author: "anyorder", description: "Light in the night mode", category: "Convenience")

preferences {
    section("Light this") { input "lamp", "capability.switch" }
}

def installed() { subscribe(location, "mode", changed) }

def changed(evt) {
    if (evt.value == "Night") {
        lamp.on()
    }
}
