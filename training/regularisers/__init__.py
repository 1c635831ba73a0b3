"""Terms that are added to a batch's loss so that an encoder generalises beyond the texts it was trained on."""
