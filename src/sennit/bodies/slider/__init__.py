"""What slides along a rod."""
