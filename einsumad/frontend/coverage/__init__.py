"""What of other libraries' functions is supported on traced values, and why the rest is not."""
