import React, { useState } from "react";
import { render } from "react-dom";
import useAsync from "react-use/lib/useAsync";

const named = async (id) => (await fetch("/user/" + id)).text();

function Profile({ id }) {
  const { value } = useAsync(() => named(id), [id]);
  return React.createElement("p", { id: "name" }, "User " + id + ": " + value);
}

function Page() {
  const [id, open] = useState(1);
  const button = (to) =>
    React.createElement("button", { id: "user" + to, key: to, onClick: () => open(to) }, to);
  return React.createElement("div", null, [2, 3].map(button), React.createElement(Profile, { id }));
}

render(React.createElement(Page), document.getElementById("root"));
