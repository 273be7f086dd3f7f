"""The lessons: their steps and verbs, and instruments that study GPU kernels without a GPU.

In a wheel, the lessons' own files lie in the folder `course` here.
"""
