// Lights the hall when somebody comes home.
definition(name: "Welcome light", namespace: "anyorder", author: "anyorder", description: "Light on arrival", category: "Convenience")

preferences {
    section("When somebody arrives") { input "who", "capability.presenceSensor" }
    section("light this") { input "lamp", "capability.switch" }
}

def installed() { subscribe(who, "presence.present", arrived) }

def updated() {
    unsubscribe()
    installed()
}

def arrived(evt) { lamp.on() }
