// Puts the lamp out whenever it is lit.
definition(name: "Always off", namespace: "anyorder", author: "anyorder", description: "A lamp that stays off", category: "Convenience")

preferences {
    section("Keep this off") { input "lamp", "capability.switch" }
}

def installed() { subscribe(lamp, "switch.on", again) }

def again(evt) { lamp.off() }
