library.version++;
