"""Tools that look at the interpreter and the machine a host runs on."""
