// Puts the light out when the home goes to its night mode.
definition(name: "Dark night", namespace: "anyorder", author: "anyorder", description: "Light off at night", category: "Convenience")

preferences {
    section("Put this out") { input "lamp", "capability.switch" }
}

def installed() { subscribe(location, "mode", changed) }

def updated() {
    unsubscribe()
    installed()
}

def changed(evt) {
    if (evt.value == "Night") {
        lamp.off()
    }
}
