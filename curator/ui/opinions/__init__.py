"""The second opinion of a language model in the window: when it is requested, how its answer is shown, and its
settings.

* **Nothing waits for a model.** It is queried in a thread once the curator stays at a mention, and stopped when they
  move on. The answer changes neither the order of the candidates nor their keys.
* **It is hidden where it would influence a measurement**: in rounds, with shuffled candidates, and for mentions that
  are to be decided without suggestions.
"""
