var library = { name: 'charts' };
