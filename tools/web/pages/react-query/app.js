import React, { useState } from "react";
import { createRoot } from "react-dom/client";
import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";

const named = async (id) => (await fetch("/user/" + id)).text();

function Profile({ id }) {
  const { data } = useQuery({ queryKey: ["user", id], queryFn: () => named(id) });
  return React.createElement("p", { id: "name" }, "User " + id + ": " + data);
}

function Page() {
  const [id, open] = useState(1);
  const button = (to) =>
    React.createElement("button", { id: "user" + to, key: to, onClick: () => open(to) }, to);
  return React.createElement("div", null, [2, 3].map(button), React.createElement(Profile, { id }));
}

const page = React.createElement(Page);
const client = new QueryClient();
const root = createRoot(document.getElementById("root"));
root.render(React.createElement(QueryClientProvider, { client }, page));
