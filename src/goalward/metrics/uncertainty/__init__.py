"""How sure a number is: weights of episodes, intervals, tests between methods."""
