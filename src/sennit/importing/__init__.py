"""What other programs write and scenes are made of: centrelines, mechanisms."""
