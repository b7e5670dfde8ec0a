"""Ways of a message to somebody: a file, a program, an address on the web, a mail server."""
