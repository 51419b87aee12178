"""From stored predictions to stored scores."""
