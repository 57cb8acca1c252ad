import React from "react";
import { createRoot } from "react-dom/client";
import { useFormik } from "formik";

const h = React.createElement;
const ask = async (values) => {
  const reply = await fetch("/names/" + values.name);
  const message = await reply.text();
  return message ? { name: message } : {};
};
// An answer to a question that is not the last one is replaced by that of the last one.
let last;
const validate = (values) => {
  const asked = ask(values);
  last = asked;
  return asked.then((errors) => (last === asked ? errors : last));
};

function Form() {
  const { values, errors, handleChange } = useFormik({ initialValues: { name: "" }, validate });
  const input = h("input", { id: "name", name: "name", value: values.name, onChange: handleChange });
  return h("form", null, input, h("p", null, errors.name || "A good name."));
}

createRoot(document.getElementById("root")).render(h(Form));
