"""Does the program that a model wrote pass its tests?"""
