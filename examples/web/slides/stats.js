window.visits = (window.visits || 0) + 1;
