import axios from "axios";
import refresh from "axios-auth-refresh";

let token = "old";
const server = axios.create();
server.interceptors.request.use((config) => {
  config.params = { token };
  return config;
});
// A request that failed with an older token needs no other token than the present one.
const renew = async (failed) => {
  if (failed.config.params.token !== token) return;
  token = (await axios.post("/token")).data.token;
};
(refresh.default || refresh)(server, renew);

const show = (name) => {
  const text = document.getElementById(name);
  server.get("/" + name).then(
    (reply) => (text.textContent = reply.data),
    () => (text.textContent = "not allowed"),
  );
};
document.getElementById("inbox").innerHTML =
  '<button id="open">Open</button><p id="mail"></p><p id="tasks"></p>';
document.getElementById("open").onclick = () => {
  show("mail");
  show("tasks");
};
