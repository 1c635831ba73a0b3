"""Annotations beside the text: brat, PubAnnotation, Web Annotation, WebAnno TSV and UIMA's XMI."""
