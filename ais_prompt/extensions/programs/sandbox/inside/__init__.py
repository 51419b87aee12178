"""The code inside the sandbox. These modules need nothing but the standard library, and are sent there as source text.

The guard starts first, and forks. The child runs the program that a model wrote, under every limit there is. The guard
itself then runs the tests, in a process in which no line of the program ever ran, and calls the program's functions
over a pipe. A program passes if the tests come to their end there: it can only send values, and values are compared.
"""
