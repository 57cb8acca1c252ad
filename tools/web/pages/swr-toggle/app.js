import React from "react";
import { render } from "react-dom";
import useSWR, { mutate } from "swr";

const get = async (path) => (await fetch(path)).json();
const post = async (on) => (await fetch("/switch/" + on, { method: "POST" })).json();

function Page() {
  const { data } = useSWR("/switch", get, { dedupingInterval: 0, revalidateOnFocus: false });
  const toggle = () => {
    mutate("/switch", !data, false);
    mutate("/switch", post(!data), false);
  };
  const text = data === undefined ? "..." : data ? "on" : "off";
  return React.createElement("button", { id: "switch", onClick: toggle }, text);
}

render(React.createElement(Page), document.getElementById("root"));
