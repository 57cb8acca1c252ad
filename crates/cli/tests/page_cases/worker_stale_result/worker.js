onmessage = async e => {
  const { cmd, url } = e.data;
  if (cmd !== 'mean') return;
  const numbers = await (await fetch(url)).json();
  const mean = numbers.reduce((a, b) => a + b, 0) / numbers.length;
  postMessage({ url, mean });
};
