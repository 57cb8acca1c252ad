import Model from "ampersand-model";

// The server of this page answers by address alone, so the address has the colour.
const Car = Model.extend({
  props: { id: "number", colour: "string" },
  url() {
    return "/cars/1/" + this.colour;
  },
});
document.getElementById("root").innerHTML =
  '<input id="red" type="radio" name="colour"> <input id="blue" type="radio" name="colour">' +
  '<p id="state"></p>';
const car = new Car({ id: 1 });
const text = document.getElementById("state");
car.on("change", () => (text.textContent = "A " + car.colour + " car."));
for (const colour of ["red", "blue"]) {
  document.getElementById(colour).onchange = () => car.save({ colour });
}
