import React from "react";
import { createRoot } from "react-dom/client";
import { useFormik } from "formik";

const h = React.createElement;
const validate = async (values) => {
  const reply = await fetch("/names/" + values.name);
  const message = await reply.text();
  return message ? { name: message } : {};
};

function Form() {
  const { values, errors, handleChange } = useFormik({ initialValues: { name: "" }, validate });
  const input = h("input", { id: "name", name: "name", value: values.name, onChange: handleChange });
  return h("form", null, input, h("p", null, errors.name || "A good name."));
}

createRoot(document.getElementById("root")).render(h(Form));
