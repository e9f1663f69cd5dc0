"""What one feature prints, or gives a model, in a way of its own: a module for each that has such."""
