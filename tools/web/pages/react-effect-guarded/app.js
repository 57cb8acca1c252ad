import React, { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

const named = async (id) => (await fetch("/user/" + id)).text();

function Profile({ id }) {
  const [name, show] = useState("");
  useEffect(() => {
    let gone = false;
    named(id).then((text) => gone || show(text));
    return () => {
      gone = true;
    };
  }, [id]);
  return React.createElement("p", { id: "name" }, "User " + id + ": " + name);
}

function Page() {
  const [id, open] = useState(1);
  const button = (to) =>
    React.createElement("button", { id: "user" + to, key: to, onClick: () => open(to) }, to);
  return React.createElement("div", null, [2, 3].map(button), React.createElement(Profile, { id }));
}

createRoot(document.getElementById("root")).render(React.createElement(Page));
