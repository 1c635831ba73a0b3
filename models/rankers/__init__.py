"""What orders the first candidates anew: rankers, the combiner, and whether no entity fits."""
