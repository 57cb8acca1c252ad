import React from "react";
import { createRoot } from "react-dom/client";
import AsyncSelect from "react-select/async";

const load = async (word) => {
  const list = await (await fetch("/search?q=" + word)).json();
  return list.map((label) => ({ label, value: label }));
};

const select = React.createElement(AsyncSelect, { loadOptions: load, inputId: "query" });
createRoot(document.getElementById("root")).render(select);
