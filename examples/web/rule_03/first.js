var list = ['first'];
