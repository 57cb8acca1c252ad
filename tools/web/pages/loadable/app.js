import React, { useState } from "react";
import { render } from "react-dom";
import loadable from "@loadable/component";

const h = React.createElement;
const Page = loadable(({ name }) => import("/pages/" + name + ".js"), {
  cacheKey: ({ name }) => name,
  resolveComponent: (module) => () => h("p", null, module.text),
  fallback: h("p", null, "..."),
});

function App() {
  const [name, open] = useState("");
  const button = (it) => h("button", { id: it, onClick: () => open(it) }, it);
  return h("div", null, button("one"), button("two"), name && h(Page, { name }));
}

render(h(App), document.getElementById("root"));
