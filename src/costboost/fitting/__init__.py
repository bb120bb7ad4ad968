"""What every family does around its loop: bin, hold out, take rounds, continue."""
