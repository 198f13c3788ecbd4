"""What a batch computes in compiled code."""
