"""What a scene looks like, as arrays: `Cast` says what is there, a frame where it is now. No page, no file."""
