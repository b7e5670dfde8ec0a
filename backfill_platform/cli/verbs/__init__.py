"""One module for each verb of the command line, with a function of the same name."""
