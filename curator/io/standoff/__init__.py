"""Annotations separate from the text: brat, PubAnnotation, Web Annotation, WebAnno TSV, UIMA's XMI and CAS JSON.

* **XMI is edited in place with lxml**, not with `dkpro-cassis`, which needs every type declared and rewrites the whole
  file. The tests open written files with cassis.
"""
