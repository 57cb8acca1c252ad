// Unlocks the door when something moves in front of it: not while away, one would hope.
definition(name: "Unlock on motion", namespace: "anyorder", author: "anyorder", description: "Opens the door", category: "Convenience")

preferences {
    section("When this moves") { input "motion1", "capability.motionSensor" }
    section("unlock") { input "door", "capability.lock" }
}

def installed() {
    subscribe(motion1, "motion.active", moved)
    subscribe(location, "mode", remember)
}

def remember(evt) { state.mode = evt.value }

def moved(evt) {
    if (state.mode != "Night") {
        door.unlock()
    }
}
