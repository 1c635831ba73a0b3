"""Several curators: rounds, adjudication, agreement, and the name under which decisions are stored."""
