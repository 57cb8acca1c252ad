"""The published verdicts of IoTCheck for pairs of apps, read from its spreadsheets."""

import re
import xml.etree.ElementTree as tree
import zipfile

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"

# What a manual study of each pair says, by the colour of the cell.
MANUAL = {
    "FF00FF00": "conflict",
    "FF00FFFF": "none",
    "FFFF9900": "none",
    "FFFF0000": "conflict",
    "FF4A86E8": "conflict",
    "FF980000": "conflict",
}

# The attributes that the authors watch in each group of devices.
WATCHED = {
    "Alarms": ["alarm"],
    "Cameras": ["image", "alarmState"],
    "Dimmers": ["switch", "level"],
    "Lights": ["color", "hue", "saturation", "level", "switch", "colorTemperature"],
    "Locks": ["lock"],
    "Music Player": ["status", "duration", "level", "trackDescription", "trackData", "mute"],
    "Relay Switches": ["switch"],
    "Speech Synthesizers": ["level", "phraseSpoken"],
    "Switches": ["switch"],
    "Thermostats": [
        "heatingSetpoint",
        "thermostatSetpoint",
        "coolingSetpoint",
        "thermostatOperatingState",
        "thermostatFanMode",
        "thermostatMode",
    ],
    "Valves": ["valve", "contact"],
}


def text(element):
    return "".join(part.text or "" for part in element.iter(MAIN + "t"))


def sheets(path):
    """The sheets of a workbook: the name, and rows of cells `column -> (text, colour)`."""
    book = zipfile.ZipFile(path)

    def part(name):
        return tree.fromstring(book.read(f"xl/{name}.xml"))

    strings = [text(one) for one in part("sharedStrings").iter(MAIN + "si")]
    styles = part("styles")
    fills = []
    for fill in styles.find(MAIN + "fills"):
        colour = fill.find(f".//{MAIN}fgColor")
        fills.append(None if colour is None else colour.get("rgb"))
    formats = [fills[int(one.get("fillId", 0))] for one in styles.find(MAIN + "cellXfs")]
    for number, sheet in enumerate(part("workbook").find(MAIN + "sheets")):
        rows = []
        for row in part(f"worksheets/sheet{number + 1}").iter(MAIN + "row"):
            cells = {}
            for cell in row.iter(MAIN + "c"):
                column = re.match("[A-Z]+", cell.get("r")).group()
                value = cell.find(MAIN + "v")
                shown = "" if value is None else value.text
                if cell.get("t") == "s":
                    shown = strings[int(shown)]
                cells[column] = (shown, formats[int(cell.get("s", 0))])
            rows.append(cells)
        yield sheet.get("name"), rows


def app(cell):
    found = re.match(r"\s*(.*?\.groovy)", cell[0])
    return found and found.group(1).replace(" ", "-")


def pairs(folder):
    """The pairs of the device groups: `(group, first, second, verdict, manual study)`."""
    for path in sorted(folder.glob("Device Interaction/Automation/*.xlsx")):
        if path.stem.startswith("Summary"):
            continue
        for name, rows in sheets(path):
            if "untime" in name:
                continue
            header = names = None
            for row in rows:
                named = [column for column, cell in row.items() if cell[0] == "Application"]
                if named:
                    header, names = row, named[0]
                first = header and app(row.get(names, ("", None)))
                for column, cell in (header or {}).items():
                    second = app(cell)
                    verdict, colour = row.get(column, ("", None))
                    known = verdict in ("detected", "no error", "non-terminated")
                    if first and second and column != names and known:
                        yield path.stem, first, second, verdict, MANUAL.get(colour, "not studied")
