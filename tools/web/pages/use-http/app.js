import React, { useState } from "react";
import { render } from "react-dom";
import useFetch from "use-http";

function Page() {
  const [day, move] = useState(0);
  const { get, data } = useFetch("/day", { cachePolicy: "no-cache" });
  const next = () => {
    move(day + 1);
    get("/" + (day + 1));
  };
  const text = "Day " + day + ": " + data;
  const button = React.createElement("button", { id: "next", onClick: next }, "Next");
  return React.createElement("div", null, button, React.createElement("p", null, text));
}

render(React.createElement(Page), document.getElementById("root"));
