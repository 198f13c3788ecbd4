"""What a hand feels of zones: patches across seams, and a contact that never gives more work than it was given."""
