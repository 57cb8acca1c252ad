onmessage = function (event) {
  postMessage(event.data + 1);
  postMessage(event.data + 2);
};
