var library = { version: 3 };
