"""The evaluation that the training job, its gate and `curator evaluate` share.

Conventions. Only decided mentions count. A mention is NIL if none of its gold ids is in the knowledge base, primary or
alternate. Recall is calculated over in-KB mentions. *Any-match* counts a composite mention as found if one of its
entities is among the first k, *all-match* if all of them are among the first max(k, number of its entities). A mention
without an answer, or whose entity was not retrieved, is an error (unnormalised). Candidates keep the linker's order: by
score, then exact name matches first, then by entity id, so ties are never broken by chance. Figures are micro-averaged
unless called macro, which is the mean over types (worlds, for ZESHEL).
"""
