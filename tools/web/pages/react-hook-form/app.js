import React from "react";
import { createRoot } from "react-dom/client";
import { useForm } from "react-hook-form";

const h = React.createElement;
const resolver = async (values) => {
  const reply = await fetch("/names/" + values.name);
  const message = await reply.text();
  return message ? { values: {}, errors: { name: { type: "taken", message } } } : { values, errors: {} };
};

function Form() {
  const { register, formState } = useForm({ mode: "onChange", resolver });
  const { errors } = formState;
  return h("form", null, h("input", { id: "name", ...register("name") }),
    h("p", null, errors.name ? errors.name.message : "A good name."));
}

createRoot(document.getElementById("root")).render(h(Form));
