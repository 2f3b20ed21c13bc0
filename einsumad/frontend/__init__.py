"""What users touch: the tensor, the NumPy surface, transforms, symbols and eager style."""
