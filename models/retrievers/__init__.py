"""What finds and scores candidates besides names: bi-encoder, sum of max, remembered decisions, and their fusion."""
