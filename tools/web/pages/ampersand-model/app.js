import Model from "ampersand-model";

// The server of this page answers by address alone, so the address has the colour.
const Car = Model.extend({
  props: { id: "number", colour: "string" },
  url() {
    return "/cars/1/" + this.colour;
  },
});
const car = new Car({ id: 1 });
const text = document.getElementById("state");
car.on("change", () => (text.textContent = "A " + car.colour + " car."));
for (const colour of ["red", "blue"]) {
  document.getElementById(colour).onchange = () => car.save({ colour });
}
