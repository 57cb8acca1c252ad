import React from "react";
import { render } from "react-dom";
import InfiniteScroll from "react-infinite-scroller";

const h = React.createElement;

class List extends React.Component {
  constructor(props) {
    super(props);
    this.state = { loading: false, items: ["one", "two", "three", "four"] };
    this.more = this.more.bind(this);
  }

  more() {
    if (this.busy) return;
    this.busy = true;
    this.setState({ loading: true });
    fetch("/items/" + this.state.items.length)
      .then((reply) => reply.json())
      .then((list) => {
        this.busy = false;
        this.setState((state) => ({ loading: false, items: state.items.concat(list) }));
      });
  }

  render() {
    const { loading, items } = this.state;
    const rows = items.map((text, at) => h("p", { key: at, style: { height: 50 } }, text));
    const list = { loadMore: this.more, hasMore: items.length < 6, useWindow: false };
    const style = { height: 100, overflow: "auto" };
    return h("div", null,
      h("div", { id: "box", style }, h(InfiniteScroll, { initialLoad: false, threshold: 60, ...list }, rows)),
      h("p", null, loading ? "Loading" : items.length + " items"));
  }
}

render(h(List), document.getElementById("root"));
