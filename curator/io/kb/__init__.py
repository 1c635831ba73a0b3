"""Knowledge bases in files: one module for each format.

* **OBO is read by our own reader**: pronto 2.7 stops at a syntax error in the Disease Ontology of 2016, whose
  cross-references hold spaces.
* **OWL and SKOS are one graph, read with pyoxigraph**, which streams triples: rdflib took 35 times the file's size in
  memory, and 11 s where this takes 2 s; pronto stops at unknown content. JSON-LD is not read, because its contexts
  would be downloaded.
* UMLS files are sorted by concept and read in parallel, so that only one concept is in memory at a time.
"""
