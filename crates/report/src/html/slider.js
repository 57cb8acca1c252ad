// Lays the two pictures of a pair over each other, with a slider between them, and marks the part in
// which they differ. The slider begins in the middle of that part.
"use strict";
(() => {
  // Returns the edges of the part in which two pictures differ, as parts of the whole.
  const difference = (one, other) => {
    const [width, height] = [one.naturalWidth, one.naturalHeight];
    if (!width || !height || width !== other.naturalWidth || height !== other.naturalHeight) return null;
    const pixels = (image) => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [width, height];
      const context = canvas.getContext("2d", { willReadFrequently: true });
      context.drawImage(image, 0, 0);
      return new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
    };
    const [a, b] = [pixels(one), pixels(other)];
    let [left, right, top, bottom] = [width, 0, height, 0];
    for (let at = 0; at < a.length; at++) {
      if (a[at] === b[at]) continue;
      const [x, y] = [at % width, Math.floor(at / width)];
      [left, right] = [Math.min(left, x), Math.max(right, x + 1)];
      [top, bottom] = [Math.min(top, y), Math.max(bottom, y + 1)];
    }
    return right === 0 ? null : [left / width, top / height, (right - left) / width, (bottom - top) / height];
  };
  for (const slider of document.querySelectorAll(".slider")) {
    const input = slider.querySelector("input");
    const images = slider.querySelectorAll("img");
    if (!input || images.length !== 2) continue;
    slider.classList.add("on");
    const cut = () => slider.style.setProperty("--cut", input.value + "%");
    input.addEventListener("input", cut);
    cut();
    Promise.all(Array.from(images, (image) => image.decode())).then(() => {
      const found = difference(...images);
      if (!found) return;
      const [x, y, width, height] = found;
      slider.style.setProperty("--x", x * 100 + "%");
      slider.style.setProperty("--w", width * 100 + "%");
      slider.style.setProperty("--y", y);
      slider.style.setProperty("--h", height);
      const mark = document.createElement("div");
      mark.className = "where";
      slider.querySelector(".pair").append(mark);
      input.value = Math.round((x + width / 2) * 100);
      cut();
    }, () => {});
  }
})();
