// Puts the lamp out some time after the door is shut, unless it was opened again.
definition(name: "Lights out later", namespace: "anyorder", author: "anyorder", description: "A timer", category: "Convenience")

preferences {
    section("When this is shut") { input "door", "capability.contactSensor" }
    section("put this out") { input "lamp", "capability.switch" }
    section("after") { input "minutes", "number", defaultValue: 5 }
}

def installed() {
    subscribe(door, "contact", moved)
}

def moved(evt) {
    if (evt.value == "closed") {
        runIn(minutes * 60, out)
    } else {
        unschedule()
        lamp.on()
    }
}

def out() { lamp.off() }
