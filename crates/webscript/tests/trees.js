// Compares the trees of the frames before this script, in threes: without hold points, with some, with most.
const finish = (text) => { document.body.textContent = "RESULT" + ":" + text + ":END"; };
addEventListener("load", () => { try { compare(); } catch (error) { finish(error.stack); } });
function compare() {
  const show = (node) => {
    if (node.nodeType === 3) return JSON.stringify(node.data);
    if (node.nodeType === 8) return "<!--" + node.data + "-->";
    if (node.nodeType !== 1 && node.nodeType !== 9 && node.nodeType !== 11) return node.nodeName;
    const inner = node.nodeName === "TEMPLATE" && node.content ? node.content : node;
    const names = node.attributes ? [...node.attributes].map((it) => " " + it.name + "=" + it.value).join("") : "";
    return node.nodeName + names + "(" + [...inner.childNodes].map(show).join() + ")";
  };
  const trees = [...document.querySelectorAll("iframe")].map((frame) => frame.contentDocument.documentElement);
  const wrong = [];
  let compared = 0;
  for (let i = 0; i < trees.length; i += 3) {
    const natural = show(trees[i]);
    for (const j of [1, 2]) {
      compared++;
      const mine = show(trees[i + j]);
      if (mine !== natural) wrong.push("\n" + i / 3 + "/" + j + "\n" + natural + "\n" + mine);
    }
  }
  finish(wrong.length === 0 ? compared + " compared" : wrong.join("\n"));
}
