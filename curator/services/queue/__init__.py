"""What is decided next: order, facets, filters, documents held out, and the seat from which a queue is worked on."""
