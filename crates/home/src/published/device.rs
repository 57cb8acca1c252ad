//! What the devices do: the steps of the table.

use super::kept::{Held, Kept};
use super::run::{Answer, Run, number_of, throw, unsupported};
use super::steps::{FieldRef, Method, Operand, Step};
use anyorder_groovy::eval::{Stop, Value, equal, show};

/// An update of a field of a device by an app.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Updated {
    pub(super) app: Option<usize>,
    pub(super) device: usize,
    pub(super) field: String,
    pub(super) value: Kept,
}

/// What steps work on.
struct Frame<'f> {
    /// The device, by its number in the table.
    device: usize,
    is_item: bool,
    arguments: &'f [Value],
    /// The name and value of a simulated event.
    simulated: Option<(&'f str, &'f str)>,
}

/// Returns the id of a device with this name: `lockID0` of `lock0`.
pub(super) fn id_of(name: &str) -> String {
    format!("{}ID0", name.trim_end_matches('0'))
}

impl Run<'_> {
    /// Returns where a device of the table stands in the home.
    fn place_of(&self, device: usize) -> Option<usize> {
        self.home.devices.iter().position(|one| *one == device)
    }

    /// An event comes from a device.
    pub(super) fn simulate(&mut self, device: usize, name: &str, value: &str) -> Result<(), Stop> {
        let facts = &self.home.table.devices[device];
        if self.place_of(device).is_none() {
            return throw("MissingPropertyException");
        }
        let Some(steps) = facts.simulated.get(name).or_else(|| facts.simulated.get("*")) else {
            return Ok(());
        };
        // It is compared with the field of the item, which is looked up by its name.
        for step in steps {
            if let Step::Unless(all) = step {
                all.iter().for_each(|(field, _)| self.look_up(&field.name));
            }
        }
        let frame =
            Frame { device, is_item: false, arguments: &[], simulated: Some((name, value)) };
        self.steps(steps, &frame).map(|_| ())
    }

    fn fields(&self, device: usize, is_item: bool) -> &[(String, [Kept; 2])] {
        let facts = &self.home.table.devices[device];
        if is_item { &facts.item } else { &facts.group }
    }

    /// Reads a field of a group or item.
    pub(super) fn device_field(&self, device: usize, is_item: bool, name: &str) -> Option<Kept> {
        let at = self.fields(device, is_item).iter().position(|(own, _)| own == name)?;
        let place = self.place_of(device)?;
        self.devices[place][usize::from(is_item)].get(at).cloned()
    }

    /// Sets a field of a group or item; returns whether there is one.
    pub(super) fn set_device_field(
        &mut self,
        (device, is_item): (usize, bool),
        name: &str,
        value: &Value,
    ) -> Result<bool, Stop> {
        let fields = self.fields(device, is_item);
        let Some(at) = fields.iter().position(|(own, _)| own == name) else { return Ok(false) };
        let Some(place) = self.place_of(device) else { return Ok(false) };
        let kept = self.cast(&fields[at].1[0].clone(), value)?;
        let (app, field) = (self.app, name.to_owned());
        self.updates.push(Updated { app, device, field, value: kept.clone() });
        self.devices[place][usize::from(is_item)][at] = kept;
        Ok(true)
    }

    /// Converts a value to the type of a field.
    fn cast(&self, like: &Kept, value: &Value) -> Result<Kept, Stop> {
        Ok(match (like, value) {
            (Kept::Int(_), Value::Int(one)) => Kept::Int(*one),
            (Kept::Int(_), Value::Long(one)) => Kept::Int(*one as i32),
            (Kept::Int(_), Value::Double(one)) => Kept::Int(*one as i32),
            (Kept::Int(_), Value::Decimal(_) | Value::Float(_)) => {
                Kept::Int(number_of(&show(value)).unwrap_or(0))
            }
            (Kept::Int(_), _) => return throw("GroovyCastException"),
            (Kept::Bool(_), value) => Kept::Bool(value.is_true()),
            (Kept::Map(_), value) => self.kept(value)?,
            (_, Value::Null) => Kept::Null,
            (_, value) => Kept::Text(show(value)),
        })
    }

    /// Calls a method of a group or item.
    pub(super) fn device_call(
        &mut self,
        device: usize,
        is_item: bool,
        name: &str,
        arguments: &[Value],
    ) -> Answer {
        let table = self.home.table;
        let facts = &table.devices[device];
        let readings = match name {
            "currentValue" => Some(&facts.current),
            "latestValue" => Some(&facts.latest),
            "currentState" => Some(&facts.state),
            _ => None,
        };
        let readings = readings.filter(|all| !all.is_empty());
        match (readings, arguments) {
            (Some(all), [Value::Text(feature)]) => {
                let field = all.get(&**feature);
                let value = field.and_then(|field| self.device_field(device, true, field));
                return Some(Ok(self.value(&value.unwrap_or_default())));
            }
            (Some(_), [Value::Null] | []) => return Some(Ok(Value::Null)),
            _ => {}
        }
        match (name, arguments) {
            ("size", []) if !is_item && facts.list.is_some() => return Some(Ok(Value::Int(1))),
            ("getAt", [Value::Int(0 | -1)]) if !is_item => {
                return Some(Ok(self.object(Held::Item(device))));
            }
            ("getAt", [Value::Int(_)]) if !is_item => return Some(Ok(Value::Null)),
            ("toString", []) => return Some(Ok(Value::text(&facts.name))),
            _ => {}
        }
        let methods = &facts.methods[usize::from(is_item)];
        let (method, arguments) = self.overload(methods, name, arguments)?;
        let frame = Frame { device, is_item, arguments: &arguments, simulated: None };
        Some(self.steps(&method.steps, &frame))
    }

    /// Returns the method that takes these arguments, and the arguments. A method with one
    /// parameter that is an object may be called without an argument: it is null.
    fn overload<'m>(
        &self,
        methods: &'m [Method],
        name: &str,
        arguments: &[Value],
    ) -> Option<(&'m Method, Vec<Value>)> {
        let named = || methods.iter().filter(|method| method.name == name);
        let fits = |method: &&Method| self.fits(&method.parameters, arguments);
        if let Some(method) = named().find(fits) {
            return Some((method, arguments.to_vec()));
        }
        let null = [Value::Null];
        let method =
            named().find(|method| arguments.is_empty() && self.fits(&method.parameters, &null))?;
        Some((method, null.to_vec()))
    }

    /// Returns whether parameters of these types take the arguments.
    pub(super) fn fits<T: AsRef<str>>(&self, types: &[T], arguments: &[Value]) -> bool {
        let takes = |(name, value): (&T, &Value)| self.takes(name.as_ref(), value);
        types.len() == arguments.len() && types.iter().zip(arguments).all(takes)
    }

    fn takes(&self, name: &str, value: &Value) -> bool {
        let held = match value {
            Value::Object(id) => self.held(*id),
            _ => None,
        };
        match name {
            "int" => matches!(value, Value::Int(_)),
            "long" => matches!(value, Value::Int(_) | Value::Long(_)),
            "double" => value.is_number(),
            "Object" => true,
            _ if matches!(value, Value::Null) => true,
            "String" => matches!(value, Value::Text(_)),
            "Map" => matches!(value, Value::Map(_)),
            "Closure" => {
                matches!(value, Value::Closure(_)) || matches!(held, Some(Held::Method(..)))
            }
            "Date" => matches!(held, Some(Held::Date(_))),
            _ => false,
        }
    }

    fn steps(&mut self, steps: &[Step], frame: &Frame<'_>) -> Result<Value, Stop> {
        let mut last = Value::Null;
        for step in steps {
            match step {
                Step::Unless(all) => {
                    let mut holds = true;
                    for (field, value) in all {
                        let (own, value) = (self.read(field, frame), self.operand(value, frame)?);
                        holds &= equal(&own, &value);
                    }
                    if holds {
                        return Ok(Value::Null);
                    }
                }
                Step::Return(value) => return self.operand(value, frame),
                step => last = self.step(step, frame)?,
            }
        }
        Ok(last)
    }

    fn step(&mut self, step: &Step, frame: &Frame<'_>) -> Result<Value, Stop> {
        match step {
            Step::Set(fields, value) => {
                let value = self.operand(value, frame)?;
                for field in fields {
                    self.write(field, &value, frame)?;
                }
            }
            Step::Change(field, value, name) => {
                let value = self.operand(value, frame)?;
                if !equal(&self.read(field, frame), &value) {
                    self.write(field, &value, frame)?;
                    self.send_from(frame, name, &value)?;
                }
            }
            Step::Send(name, value) => {
                let value = self.operand(value, frame)?;
                self.send_from(frame, name, &value)?;
            }
            Step::Forward => {
                if let Some((name, value)) = frame.simulated {
                    self.data = self.home.table.devices[frame.device].data.clone();
                    self.send_from(frame, name, &Value::text(value))?;
                }
            }
            Step::Item(name, operands) => {
                return self.own(frame.device, true, name, operands, frame);
            }
            Step::Own(name, operands) => {
                return self.own(frame.device, frame.is_item, name, operands, frame);
            }
            Step::Given(operand, name) => {
                if !matches!(self.operand(operand, frame)?, Value::Null) {
                    let operands = std::slice::from_ref(operand);
                    return self.own(frame.device, frame.is_item, name, operands, frame);
                }
            }
            Step::Flip(field) => {
                let value = Value::Bool(!self.read(field, frame).is_true());
                self.write(field, &value, frame)?;
            }
            Step::Add(field, more) => {
                if let Value::Int(own) = self.read(field, frame) {
                    self.write(field, &Value::Int(own.wrapping_add(*more)), frame)?;
                }
            }
            Step::Back(field) => match self.read(field, frame) {
                Value::Int(own) if own != 1 => {
                    self.write(field, &Value::Int(own.wrapping_sub(1)), frame)?;
                }
                _ => {}
            },
            Step::Delay(operand) => {
                let map = self.operand(operand, frame)?;
                let delay = self.entry(&map, "delay");
                if !matches!(delay, Value::Int(_) | Value::Long(_)) {
                    return throw("MissingMethodException");
                }
            }
            Step::History(name, one, other) => {
                let (one, other) = (self.operand(one, frame)?, self.operand(other, frame)?);
                let (count, value) = match self.choose(5)? {
                    0 => (0, one),
                    1 => (1, one),
                    2 => (2, one),
                    3 => (1, other),
                    _ => (2, other),
                };
                return Ok(events(frame, self, name, &value, count));
            }
            Step::Recent(name, field) => {
                let value = Value::text(show(&self.read(field, frame)));
                let count = usize::from(self.choose(2)?);
                return Ok(events(frame, self, name, &value, count));
            }
            Step::Fail => return throw("MissingMethodException"),
            Step::Unless(_) | Step::Return(_) => {}
        }
        Ok(Value::Null)
    }

    fn own(
        &mut self,
        device: usize,
        is_item: bool,
        name: &str,
        operands: &[Operand],
        frame: &Frame<'_>,
    ) -> Result<Value, Stop> {
        let mut arguments = vec![];
        for operand in operands {
            arguments.push(self.operand(operand, frame)?);
        }
        match self.device_call(device, is_item, name, &arguments) {
            Some(result) => result,
            None => throw("MissingMethodException"),
        }
    }

    fn send_from(&mut self, frame: &Frame<'_>, name: &str, value: &Value) -> Result<(), Stop> {
        let id = id_of(&self.home.table.devices[frame.device].name);
        self.send(name, value, &id)
    }

    fn read(&mut self, field: &FieldRef, frame: &Frame<'_>) -> Value {
        let is_item = frame.is_item || field.is_of_item;
        let kept = self.device_field(frame.device, is_item, &field.name).unwrap_or_default();
        self.value(&kept)
    }

    fn write(&mut self, field: &FieldRef, value: &Value, frame: &Frame<'_>) -> Result<(), Stop> {
        let is_item = frame.is_item || field.is_of_item;
        self.set_device_field((frame.device, is_item), &field.name, value).map(|_| ())
    }

    fn entry(&self, map: &Value, key: &str) -> Value {
        let Value::Map(entries) = map else { return Value::Null };
        let entries = entries.borrow();
        let found =
            entries.iter().find(|(own, _)| matches!(own, Value::Text(own) if **own == *key));
        found.map_or(Value::Null, |(_, value)| value.clone())
    }

    fn operand(&mut self, operand: &Operand, frame: &Frame<'_>) -> Result<Value, Stop> {
        Ok(match operand {
            Operand::Null => Value::Null,
            Operand::Int(one) => Value::Int(*one),
            Operand::Text(text) => Value::text(text),
            Operand::Argument(at, key) => {
                let argument = frame.arguments.get(*at).cloned().unwrap_or(Value::Null);
                match key {
                    None => argument,
                    Some(_) if matches!(argument, Value::Null) => {
                        return throw("NullPointerException");
                    }
                    Some(key) => self.entry(&argument, key),
                }
            }
            Operand::Simulated => Value::text(frame.simulated.map_or("", |(_, value)| value)),
            Operand::SimulatedNumber => {
                let text = frame.simulated.map_or("", |(_, value)| value);
                match text.parse() {
                    Ok(number) => Value::Int(number),
                    Err(_) => return throw("NumberFormatException"),
                }
            }
            Operand::Field(field) => self.read(field, frame),
            Operand::Colour(inner) => {
                let digits = show(&self.operand(inner, frame)?);
                Value::text(self.home.table.colour(&digits))
            }
            Operand::Number(inner) => match self.operand(inner, frame)? {
                Value::Text(text) => match text.trim().parse() {
                    Ok(number) => Value::Int(number),
                    Err(_) => return throw("NumberFormatException"),
                },
                _ => return throw("NullPointerException"),
            },
            Operand::Json(inner) => {
                let text = show(&self.operand(inner, frame)?);
                return super::platform::json(&text);
            }
            Operand::Reading => {
                let time = (Value::text("time"), Value::Long(super::platform::NOW));
                let date = (Value::text("rawDateCreated"), Value::map(vec![time]));
                Value::map(vec![date])
            }
        })
    }

    /// Reads a property of a device as an app does.
    pub(super) fn device_property(&mut self, device: usize, is_item: bool, name: &str) -> Answer {
        if let Some(kept) = self.device_field(device, is_item, name) {
            return Some(Ok(self.value(&kept)));
        }
        let facts = &self.home.table.devices[device];
        Some(Ok(match name {
            "id" => Value::text(id_of(&facts.name)),
            "label" | "displayName" => Value::text(&facts.name),
            "deviceNumbers" if !is_item => Value::Int(1),
            "0" | "-1" if !is_item && facts.list.is_some() => self.object(Held::Item(device)),
            name if !is_item && name.parse::<i32>().is_ok() => Value::Null,
            name if !is_item && facts.list.as_deref() == Some(name) => {
                let item = self.object(Held::Item(device));
                Value::list(vec![item])
            }
            name if facts.lists.iter().any(|one| one == name) => {
                return Some(unsupported(&format!("the list `{name}` of a device")));
            }
            _ => return None,
        }))
    }
}

/// Returns events as maps.
fn events(frame: &Frame<'_>, run: &Run<'_>, name: &str, value: &Value, count: usize) -> Value {
    let id = id_of(&run.home.table.devices[frame.device].name);
    let one = || {
        let texts = [("name", name), ("deviceId", &id), ("descriptionText", ""), ("linkText", "")];
        let mut entries: Vec<(Value, Value)> =
            texts.iter().map(|(key, text)| (Value::text(key), Value::text(text))).collect();
        entries.push((Value::text("value"), value.clone()));
        entries.push((Value::text("displayed"), Value::Bool(true)));
        entries.push((Value::text("isStateChange"), Value::Bool(false)));
        entries.push((Value::text("unit"), Value::text("")));
        entries.push((Value::text("data"), Value::text(super::platform::DATA)));
        Value::map(entries)
    };
    // Two of them are one object twice.
    let event = one();
    Value::list(vec![event; count])
}
