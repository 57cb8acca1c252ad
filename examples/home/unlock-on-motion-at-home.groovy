// The repair: the door is unlocked only when somebody is at home and awake.
definition(name: "Unlock on motion at home", namespace: "anyorder", author: "anyorder", description: "Opens the door", category: "Convenience")

preferences {
    section("When this moves") { input "motion1", "capability.motionSensor" }
    section("unlock") { input "door", "capability.lock" }
}

def installed() { subscribe(motion1, "motion.active", moved) }

def moved(evt) {
    if (location.mode == "Home") {
        door.unlock()
    }
}
