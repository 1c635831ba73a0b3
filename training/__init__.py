"""Losses, negatives, recipes, trainer, evaluation and the training job. It runs in child processes only.

The systems of the papers. Every recipe has a variant `…-quick` that is sized for two processor cores. Losses, negatives
and regularisers are in the folders of these names, tasks in `tasks/`; `tasks/mining.py` mines negatives. "The linker's"
are the candidates of the linker in use.

| paper, section | recipe | loss | negatives | regulariser | task |
|---|---|---|---|---|---|
| PEL (Wiatrak et al. 2022), eq. 3 | `pel-pb` | `proxy` | random | | `retriever_task` |
| PEL, 5.3.1, half mined | `pel-pb-mixed` | `proxy` | `mined` (mixed) | | `retriever_task` |
| PEL, eq. 1 | `pel-ce` | `nce` | random | | `retriever_task` |
| PEL, 4.2 | `pel-pb-fgsm`, `pel-ce-fgsm` | `proxy`, `nce` | random | `fgsm` | `retriever_task` |
| PEL, appendix B | `cross-encoder`, `-fgsm` | `cross_entropy` | the linker's | `fgsm_pairs` | `cross_encoder` |
| T-Biencoder (Sun et al. 2022), eq. 6 | `biencoder-dual`, `-mean`, `-som` | `nce` | random | | `retriever_task` |
| T-Biencoder, 3.3, 3.4 | `t-biencoder-dual`, `-som` | `nce` | `mined` (hard) | `transformation` | `retriever_task` |
| AMH (Cai et al. 2023), 3.3, 3.4 | `amh-dual`, `-mean`, `-som` | `amh` | the batch's | | `retriever_task` |
| prototype triplet (2023), 3.2.2 | `triplet`, `-downsampled` | `triplet` | the linker's | | `reranking` |
| prototype triplet, 3.2.2 | `prototype` | `prototype` | the linker's | | `reranking` |
| prototype triplet, 3.2.3, soft radius | `prototype-srn` | `prototype` | the linker's | | `reranking`, `clustering` |
| our own retriever | `curator` | `proxy` | `mined` (mixed) | | `retriever_task` |
| our own encoder of names | `names` and others | `nce` and others | the linker's | | `names_task` |

From a recipe to its gradient: `resources/recipes/ID.json`, written out by `resources/recipe_files.py`. `job/recipes.py`
and `job/tasks.py` make loss, regulariser, sampler, towers and task of it. The task's `loss` draws a batch
(`negatives/sampling.py`), encodes it (`loop/towers.py`), and calls loss and regulariser. `loop/learner.py` takes the
gradients, `loop/loop.py` the steps.
"""

__curator__ = True
