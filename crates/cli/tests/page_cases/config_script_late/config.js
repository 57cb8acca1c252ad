window.CONFIG = { api: "/eu/api", plan: "pro" };
