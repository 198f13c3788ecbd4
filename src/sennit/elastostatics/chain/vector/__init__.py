"""Vector instructions for dense blocks of seams."""
