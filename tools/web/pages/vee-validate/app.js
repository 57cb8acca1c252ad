import { createApp, h } from "vue";
import { useField } from "vee-validate";

const free = async (name) => {
  const reply = await fetch("/names/" + name);
  return (await reply.text()) || true;
};

createApp({
  setup() {
    const { value, errorMessage } = useField("name", free, { validateOnMount: false });
    const typed = (event) => (value.value = event.target.value);
    return () =>
      h("form", [h("input", { id: "name", onInput: typed }), h("p", errorMessage.value || "A good name.")]);
  },
}).mount("#root");
