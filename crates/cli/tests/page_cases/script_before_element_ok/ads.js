document.write("<p>An advertisement</p>");
