"""Runs scenarios in the real Home Assistant: one JSON document a line in, the calls out."""
import pytest_homeassistant_custom_component.patch_time  # first: clocks are bound at import
import asyncio, json, logging, sys, time
import homeassistant.helpers.event as event
from freezegun import freeze_time
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_test_home_assistant

logging.disable(logging.CRITICAL)


async def settle():
    # `async_block_till_done` would sleep through delays.
    for _ in range(40):
        await asyncio.sleep(0)


async def advance(hass, clock, seconds):
    end = hass.loop.time() + seconds
    while True:
        timers = [h.when() for h in hass.loop._scheduled if not h.cancelled() and h.when() <= end]
        step = (min(timers) if timers else end) - hass.loop.time()
        clock.tick(max(step, 0) + (1e-6 if timers else 0))
        await settle()
        if not timers:
            return


async def run(case):
    log = []
    with freeze_time("2026-01-01 12:00:00+00:00") as clock:
        event.time_tracker_timestamp = time.time
        async with async_test_home_assistant() as hass:
            await async_setup_component(hass, "homeassistant", {})
            for entity, state in case["init"].items():
                hass.states.async_set(entity, state)

            async def light(call):
                ids = call.data["entity_id"]
                for entity in ids if isinstance(ids, list) else [ids]:
                    log.append(f"light.{call.service} {entity}")
                    if len(log) > 400:
                        raise RuntimeError("a loop")
                    old = hass.states.get(entity).state
                    new = {"turn_on": "on", "turn_off": "off"}.get(call.service)
                    new = new or ("off" if old == "on" else "on")
                    hass.states.async_set(entity, new, context=call.context)

            for service in ("turn_on", "turn_off", "toggle"):
                hass.services.async_register("light", service, light)
            if case.get("script"):
                assert await async_setup_component(hass, "script", {"script": case["script"]})
            config = {"automation": case["automation"]}
            assert await async_setup_component(hass, "automation", config)
            await settle()
            for op in case["ops"]:
                if op[0] == "set":
                    hass.states.async_set(op[1], op[2])
                    await settle()
                else:
                    await advance(hass, clock, op[1])
            await hass.async_stop(force=True)
    return log


for line in sys.stdin:
    try:
        answer = {"log": asyncio.run(run(json.loads(line)))}
    except Exception as error:
        answer = {"error": repr(error)}
    print(json.dumps(answer), flush=True)
