// Lights the lamp whenever it goes out.
definition(name: "Always on", namespace: "anyorder", author: "anyorder", description: "A lamp that stays on", category: "Convenience")

preferences {
    section("Keep this on") { input "lamp", "capability.switch" }
}

def installed() { subscribe(lamp, "switch.off", again) }

def again(evt) { lamp.on() }
