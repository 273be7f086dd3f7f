"""The lessons: which steps there are, runs of their scripts, checks of answers, and the ladder."""
