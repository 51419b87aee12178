"""The work of each verb, for the command line and Python alike."""
