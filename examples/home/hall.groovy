// The third repair: one automation for both, which knows what it decided.
definition(name: "Hall", namespace: "anyorder", author: "anyorder", description: "The light of the hall", category: "Convenience")

preferences {
    section("When somebody arrives") { input "who", "capability.presenceSensor" }
    section("light this") { input "lamp", "capability.switch" }
}

def installed() {
    subscribe(who, "presence.present", decide)
    subscribe(location, "mode", decide)
}

def decide(evt) {
    if (location.mode == "Night") {
        lamp.off()
    } else if (evt.name == "presence") {
        lamp.on()
    }
}
